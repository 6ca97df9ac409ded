//! Operations that move elements, take tensors apart and join them, compared with PyTorch: every case below is PyTorch's own expression
//! together with castiron's, and `moving.json` holds its results for inputs of several sizes.

use crate::common::{Answer, Token, json, parse_all};
use castiron::pad::{Circular, Constant, Reflect, Replicate};
use castiron::{
    Complex, Dtype, Dyn, Error, Generator, KnownShape, Meta, Numeric, Result, Shape, Tensor, axis, bf16, dim, dims,
    f16, hstack, shape, tensor,
};
use castiron::{
    meshgrid, meshgrid_xy, try_block_diag, try_broadcast_tensors, try_cartesian_prod, try_column_stack, try_dstack,
    try_hstack, try_vstack,
};
use serde_json::Value;

/// What a case gave: the sizes and the elements of each tensor.
type Given = Result<Vec<(Vec<usize>, Answer)>>;

/// What methods return.
trait Gives {
    fn give(self, to: &mut Vec<(Vec<usize>, Answer)>);
}
impl<E: Token, S: Shape> Gives for Tensor<E, S> {
    fn give(self, to: &mut Vec<(Vec<usize>, Answer)>) {
        to.push((self.shape().as_ref().to_vec(), Answer::new(self.to_vec())));
    }
}
impl<T: Gives> Gives for Vec<T> {
    fn give(self, to: &mut Vec<(Vec<usize>, Answer)>) {
        self.into_iter().for_each(|each| each.give(to));
    }
}
impl<T: Gives, const N: usize> Gives for [T; N] {
    fn give(self, to: &mut Vec<(Vec<usize>, Answer)>) {
        self.into_iter().for_each(|each| each.give(to));
    }
}
impl<A: Gives, B: Gives> Gives for (A, B) {
    fn give(self, to: &mut Vec<(Vec<usize>, Answer)>) {
        self.0.give(to);
        self.1.give(to);
    }
}
impl<A: Gives, B: Gives, C: Gives> Gives for (A, B, C) {
    fn give(self, to: &mut Vec<(Vec<usize>, Answer)>) {
        self.0.give(to);
        self.1.give(to);
        self.2.give(to);
    }
}

fn given(result: Result<impl Gives>) -> Given {
    let mut all = Vec::new();
    result?.give(&mut all);
    Ok(all)
}

/// The same tensor as it may lie in memory: row-major, with the first axis innermost, and inside of a larger one.
macro_rules! layouts {
    ($x:expr, $rank:tt) => {{
        let x = $x;
        layouts!(@more x $rank)
    }};
    (@more $x:ident 0) => { vec![$x] };
    (@more $x:ident $rank:tt) => {{
        let turned = $x.transpose(axis![0], axis![-1]).contiguous().transpose(axis![0], axis![-1]);
        let wide = castiron::stack(vec![$x.clone(), $x.clone()], axis![-1]).select(axis![-1], 1);
        let mut all = vec![$x.clone(), turned, wide];
        // An axis without positions can't be padded from its other end.
        if !$x.is_empty() {
            all.push($x.pad_sized([1, 1], Circular).narrow(axis![-1], 1, $x.size(axis![-1])));
        }
        all
    }};
}

/// Cases of one rank: PyTorch's expression, and what castiron does instead. Writes a function that runs the case of a name.
macro_rules! cases {
    ($($function:ident<$e:ident: $bound:ident> $rank:tt $shape:ty, |$x:ident| { $($python:literal => $run:expr;)* })*) => {$(
        fn $function<$e: Token + $bound>(case: &str, sizes: &[usize], tokens: &str) -> Option<Vec<Given>> {
            let elements: Vec<$e> = parse_all(tokens);
            let given: fn(Tensor<$e, $shape>) -> Given = match case {
                $($python => |$x| given($run),)*
                _ => return None,
            };
            let x: Tensor<$e, $shape> = Tensor::from_vec_sized(elements, sizes.try_into().unwrap());
            Some(layouts!(x, $rank).into_iter().map(given).collect())
        }
    )*};
}
cases! {
    zero<E: Dtype> 0 (), |x| {
        "x.flip(0)" => x.try_flip(axis![0]);
        "x.roll(1)" => x.try_roll(1);
        "x.repeat(2, 3)" => x.try_repeat::<shape![2, 3]>();
        "x.repeat(())" => x.try_repeat::<shape![]>();
        "x.tile((2,))" => x.try_tile::<shape![2]>();
    }
    one<E: Dtype> 1 (Dyn,), |x| {
        "x.flip(0)" => x.try_flip(axis![0]);
        "x.flipud()" => x.try_flipud();
        "x.roll(2)" => x.try_roll(2);
        "x.roll(-7, 0)" => x.try_roll_axis(axis![0], -7);
        "x.repeat(3)" => x.try_repeat::<shape![3]>();
        "x.repeat(2, 0)" => x.try_repeat_sized::<shape![2, _]>([2, 0]);
        "x.repeat(2, 1, 2)" => x.try_repeat::<shape![2, 1, 2]>();
        "x.tile((2, 2))" => x.try_tile::<shape![2, 2]>();
        "x.repeat_interleave(3, 0)" => x.try_repeat_interleave::<dim!(3), _>(axis![0]);
        "x.repeat_interleave(2, 0)" => x.try_repeat_interleave::<dim!(2), _>(axis![0]);
        "x.repeat_interleave(4, 0)" => x.try_repeat_interleave::<dim!(4), _>(axis![0]);
        "x.repeat_interleave(0, 0)" => x.try_repeat_interleave_sized(axis![0], 0);
        "x.repeat_interleave(torch.arange(x.numel()), 0)" =>
            x.try_repeat_interleave_by(axis![0], &Tensor::<i64, shape![_]>::arange(0, x.numel(), 1));
        "F.pad(x, (1, 2))" => x.try_pad::<shape![1, 2], _>(Constant(0));
        "F.pad(x, (-1, 2), value=3)" => x.try_pad_sized([-1, 2], Constant(3));
        "F.pad(x, (3, -2))" => x.try_pad_sized([3, -2], Constant(0));
        "F.pad(x, (-2, -2))" => x.try_pad_sized([-2, -2], Constant(0));
        "F.pad(x, (-6, 7))" => x.try_pad_sized([-6, 7], Constant(0));
        "F.pad(x[None], (2, 1), 'circular')[0]" => x.try_pad::<shape![2, 1], _>(Circular);
        "F.pad(x[None], (2, -1), 'circular')[0]" => x.try_pad_sized([2, -1], Circular);
        "F.pad(x[None], (6, 0), 'circular')[0]" => x.try_pad_sized([6, 0], Circular);
        "x.chunk(2)" => x.try_chunk(axis![0], 2);
        "x.chunk(4)" => x.try_chunk(axis![0], 4);
        "x.chunk(0)" => x.try_chunk(axis![0], 0);
        "x.split(2)" => x.try_split(axis![0], 2);
        "x.split(0)" => x.try_split(axis![0], 0);
        "x.split([2, 3])" => x.try_split_sizes(axis![0], &[2, 3]);
        "x.split([1, 4, 0])" => x.try_split_into::<shape![1, 4, 0], _>(axis![0]);
        "x.tensor_split(3)" => x.try_tensor_split(axis![0], 3);
        "x.tensor_split(7)" => x.try_tensor_split(axis![0], 7);
        "x.tensor_split((1, 3, 9))" => x.try_tensor_split_at(axis![0], &[1, 3, 9]);
        "x.tensor_split((-2, 1, -9))" => x.try_tensor_split_at(axis![0], &[-2, 1, -9]);
        "x.unbind()" => x.try_unbind(axis![0]);
        "x.diag()" => x.try_diag();
        "x.diag(1)" => x.try_diag_at(1);
        "x.diag(-2)" => x.try_diag_at(-2);
        "x.diag_embed()" => x.try_diag_embed();
        "x.diag_embed(-1)" => x.try_diag_embed_at(-1);
        "torch.atleast_3d(x)" => Ok(x.atleast_3d());
        "x.unfold(0, 2, 1)" => x.try_unfold::<dim!(2), dim!(1), _>(axis![0]);
        "x.unfold(0, 3, 2)" => x.try_unfold_sized(axis![0], 3, 2);
        "x.unfold(0, 0, 2)" => x.try_unfold_sized(axis![0], 0, 2);
        "x.unfold(0, 1, 0)" => x.try_unfold_sized(axis![0], 1, 0);
    }
    two<E: Dtype> 2 (Dyn, Dyn), |x| {
        "x.flip(0)" => x.try_flip(axis![0]);
        "x.flip(-1)" => x.try_flip(axis![-1]);
        "x.flip(0, 1)" => x.try_flip(axis![0, 1]);
        "x.fliplr()" => x.try_fliplr();
        "x.flipud()" => x.try_flipud();
        "x.roll(5)" => x.try_roll(5);
        "x.roll(1, 0)" => x.try_roll_axis(axis![0], 1);
        "x.roll((-1, 2), (0, 1))" => x.try_roll_axis(axis![0, 1], [-1, 2]);
        "x.roll((-1, 2), (1, 0))" => x.try_roll_axis(axis![1, 0], [-1, 2]);
        "x.rot90()" => x.try_rot90::<1, _, _>(axis![0, 1]);
        "x.rot90(2)" => x.try_rot90::<2, _, _>(axis![0, 1]);
        "x.rot90(3)" => x.try_rot90::<3, _, _>(axis![0, 1]);
        "x.rot90(-1)" => x.try_rot90::<-1, _, _>(axis![0, 1]);
        "x.rot90(1, [1, 0])" => x.try_rot90::<1, _, _>(axis![1, 0]);
        "x.rot90(4)" => x.try_rot90::<4, _, _>(axis![0, 1]);
        "x.tril()" => x.try_tril(0);
        "x.tril(1)" => x.try_tril(1);
        "x.tril(-2)" => x.try_tril(-2);
        "x.triu()" => x.try_triu(0);
        "x.triu(2)" => x.try_triu(2);
        "x.triu(-1)" => x.try_triu(-1);
        "x.triu(-9)" => x.try_triu(-9);
        "x.triu(9)" => x.try_triu(9);
        "x.repeat(2, 3)" => x.try_repeat::<shape![2, 3]>();
        "x.repeat(2, 1, 2)" => x.try_repeat::<shape![2, 1, 2]>();
        "x.tile((2,))" => x.try_tile::<shape![2]>();
        "x.tile((3, 1))" => x.try_tile::<shape![3, 1]>();
        "x.repeat_interleave(2, 0)" => x.try_repeat_interleave::<dim!(2), _>(axis![0]);
        "x.repeat_interleave(2, -1)" => x.try_repeat_interleave_sized(axis![-1], 2);
        "F.pad(x, (1, 2))" => x.try_pad::<shape![1, 2], _>(Constant(0));
        "F.pad(x, (1, 2, 3, 0))" => x.try_pad::<shape![1, 2, 3, 0], _>(Constant(0));
        "F.pad(x, (-1, 2, 1, -1), value=1)" => x.try_pad_sized([-1, 2, 1, -1], Constant(1));
        "F.pad(x[None], (1, 2, 2, 0), 'circular')[0]" => x.try_pad_sized([1, 2, 2, 0], Circular);
        "F.pad(x[None], (-1, 2, 2, -1), 'circular')[0]" => x.try_pad_sized([-1, 2, 2, -1], Circular);
        "x.chunk(2, 1)" => x.try_chunk(axis![1], 2);
        "x.split(2, -1)" => x.try_split(axis![-1], 2);
        "x.tensor_split(2, 1)" => x.try_tensor_split(axis![1], 2);
        "x.unbind(1)" => x.try_unbind(axis![1]);
        "x.unfold(1, 2, 1)" => x.try_unfold::<dim!(2), dim!(1), _>(axis![1]);
        "x.diagonal()" => Ok(x.diagonal(axis![0, 1]));
        "x.diagonal(1)" => Ok(x.diagonal_at(axis![0, 1], 1));
        "x.diagonal(-2)" => Ok(x.diagonal_at(axis![0, 1], -2));
        "x.diagonal(9)" => Ok(x.diagonal_at(axis![0, 1], 9));
        "x.diagonal(1, 1, 0)" => Ok(x.diagonal_at(axis![1, 0], 1));
        "x.diag()" => x.try_diag();
        "x.diag(-1)" => x.try_diag_at(-1);
        "x.diag_embed()" => x.try_diag_embed();
        "x.diag_embed(2)" => x.try_diag_embed_at(2);
        "x.movedim(0, 1)" => Ok(x.movedim(axis![0], axis![1]));
    }
    three<E: Dtype> 3 (Dyn, Dyn, Dyn), |x| {
        "x.flip(0, 2)" => x.try_flip(axis![0, 2]);
        "x.flip(1)" => x.try_flip(axis![1]);
        "x.roll((1, -2), (2, 1))" => x.try_roll_axis(axis![2, 1], [1, -2]);
        "x.rot90(1, (1, 2))" => x.try_rot90::<1, _, _>(axis![1, 2]);
        "x.rot90(-1, (0, 2))" => x.try_rot90::<-1, _, _>(axis![0, 2]);
        "x.tril(-1)" => x.try_tril(-1);
        "x.triu(1)" => x.try_triu(1);
        "x.repeat(2, 1, 2)" => x.try_repeat::<shape![2, 1, 2]>();
        "x.tile((2, 2))" => x.try_tile::<shape![2, 2]>();
        "x.repeat_interleave(3, 1)" => x.try_repeat_interleave::<dim!(3), _>(axis![1]);
        "F.pad(x, (0, 1, 2, 0, 1, 1))" => x.try_pad::<shape![0, 1, 2, 0, 1, 1], _>(Constant(0));
        "x.diagonal(0, 0, 2)" => Ok(x.diagonal(axis![0, 2]));
        "x.diagonal(1, -1, 0)" => Ok(x.diagonal_at(axis![-1, 0], 1));
        "x.diag_embed(1)" => x.try_diag_embed_at(1);
        "x.movedim(0, 2)" => Ok(x.movedim(axis![0], axis![2]));
        "x.movedim(-1, 0)" => Ok(x.movedim(axis![-1], axis![0]));
        "x.swapaxes(0, -1)" => Ok(x.swapaxes(axis![0], axis![-1]));
        "x.unfold(1, 2, 1)" => x.try_unfold_sized(axis![1], 2, 1);
        "x.unbind(-2)" => x.try_unbind(axis![-2]);
    }
    mirrored<E: Numeric> 3 (Dyn, Dyn, Dyn), |x| {
        "F.pad(x, (1, 2), 'reflect')" => x.try_pad::<shape![1, 2], _>(Reflect);
        "F.pad(x, (3, 0), 'reflect')" => x.try_pad::<shape![3, 0], _>(Reflect);
        "F.pad(x, (4, 0), 'reflect')" => x.try_pad::<shape![4, 0], _>(Reflect);
        "F.pad(x, (-1, 2), 'reflect')" => x.try_pad_sized([-1, 2], Reflect);
        "F.pad(x, (2, -2), 'reflect')" => x.try_pad_sized([2, -2], Reflect);
        "F.pad(x, (1, 2, 2, 0), 'reflect')" => x.try_pad::<shape![1, 2, 2, 0], _>(Reflect);
        "F.pad(x, (1, 2), 'replicate')" => x.try_pad::<shape![1, 2], _>(Replicate);
        "F.pad(x, (5, 0, 1, 7), 'replicate')" => x.try_pad::<shape![5, 0, 1, 7], _>(Replicate);
        "F.pad(x, (-1, 2), 'replicate')" => x.try_pad_sized([-1, 2], Replicate);
        "F.pad(x, (2, -2), 'replicate')" => x.try_pad_sized([2, -2], Replicate);
        "F.pad(x, (-5, 3), 'reflect')" => x.try_pad_sized([-5, 3], Reflect);
        "F.pad(x, (-5, 3), 'replicate')" => x.try_pad_sized([-5, 3], Replicate);
        "F.pad(x, (3, 4, 1, 2), 'circular')" => x.try_pad_sized([3, 4, 1, 2], Circular);
    }
}

fn run<E: Token + Dtype>(case: &str, sizes: &[usize], tokens: &str) -> Option<Vec<Given>> {
    match sizes.len() {
        0 => zero::<E>(case, sizes, tokens),
        1 => one::<E>(case, sizes, tokens),
        2 => two::<E>(case, sizes, tokens),
        _ => three::<E>(case, sizes, tokens),
    }
}

/// What a case gave against what PyTorch gave.
fn compare(given: &Given, row: &Value) -> Result<(), String> {
    // Powers are not the last bit's.
    let ulps = if row["case"].as_str().unwrap().contains("logspace") { 1.0 } else { 0.0 };
    let Some(results) = row["results"].as_array() else {
        return if given.is_err() { Ok(()) } else { Err(format!("PyTorch refuses: {}", row["error"])) };
    };
    let given = given.as_ref().map_err(|error| error.to_string())?;
    if given.len() != results.len() {
        return Err(format!("{} tensors, PyTorch gives {}", given.len(), results.len()));
    }
    for ((sizes, answer), result) in given.iter().zip(results) {
        let wanted: Vec<usize> = serde_json::from_value(result[1].clone()).unwrap();
        if (sizes, crate::common::code(answer.dtype)) != (&wanted, result[0].as_str().unwrap()) {
            return Err(format!("{} {sizes:?}, PyTorch gives {} {wanted:?}", answer.dtype, result[0]));
        }
        for (at, token) in result[2].as_str().unwrap().split_whitespace().enumerate() {
            if !answer.agrees(at, token, ulps) {
                return Err(format!("[{at}] is {}, PyTorch gives {token}", answer.show(at)));
            }
        }
    }
    Ok(())
}

#[test]
fn moved_elements_are_pytorchs() {
    let table = json("moving.json");
    let (mut checked, mut wrong) = (0, Vec::new());
    for row in table["rows"].as_array().unwrap() {
        let (case, dtype) = (row["case"].as_str().unwrap(), row["dtype"].as_str().unwrap());
        let sizes: Vec<usize> = serde_json::from_value(row["sizes"].clone()).unwrap();
        let tokens = row["x"].as_str().unwrap();
        let given = match dtype {
            "f32" => run::<f32>(case, &sizes, tokens).or_else(|| mirrored::<f32>(case, &sizes, tokens)),
            "i64" => run::<i64>(case, &sizes, tokens).or_else(|| mirrored::<i64>(case, &sizes, tokens)),
            "bool" => run::<bool>(case, &sizes, tokens),
            "bf16" => run::<bf16>(case, &sizes, tokens),
            "c128" => run::<Complex<f64>>(case, &sizes, tokens),
            _ => None,
        };
        let given = given.unwrap_or_else(|| panic!("no case {case} of rank {} for {dtype}", sizes.len()));
        for (layout, given) in given.iter().enumerate() {
            checked += 1;
            if let Err(why) = compare(given, row) {
                wrong.push(format!("{case} of {dtype} {sizes:?}, layout {layout}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 1000, "{checked}");
}

/// Cases without an input: `i(2, 3)` are the numbers from 1 on as int64, `f(2, 3)` half of them as float32.
macro_rules! constants {
    ($($python:literal => $run:expr;)*) => {
        fn constant(case: &str) -> Option<Given> {
            fn i<S: KnownShape>() -> Tensor<i64, S> {
                Tensor::from_vec((1..=S::NUMEL as i64).collect())
            }
            fn f<S: KnownShape>() -> Tensor<f32, S> {
                i::<S>().to::<f32>() * 0.5
            }
            let given: fn() -> Given = match case {
                $($python => || given($run),)*
                _ => return None,
            };
            Some(given())
        }
    };
}
constants! {
    "torch.trace(i(3, 4))" => i::<shape![3, 4]>().try_trace();
    "torch.trace(f(3, 3))" => f::<shape![3, 3]>().try_trace();
    "torch.trace(i(0, 4).to(torch.uint8))" => i::<shape![0, 4]>().to::<u8>().try_trace();
    "torch.hstack([i(3), i(2)])" => try_hstack((i::<shape![3]>(), i::<shape![2]>()));
    "torch.hstack([i(2, 2), f(2, 1)])" => try_hstack((i::<shape![2, 2]>(), f::<shape![2, 1]>()));
    "torch.hstack([i(), f(2)])" => try_hstack((i::<shape![]>(), f::<shape![2]>()));
    "torch.hstack([i(2, 1, 2), i(2, 2, 2), i(2, 1, 2)])" =>
        try_hstack((i::<shape![2, 1, 2]>(), i::<shape![2, 2, 2]>(), i::<shape![2, 1, 2]>()));
    "torch.hstack([i(2), i(2)])" => try_hstack(vec![i::<shape![2]>(); 2]);
    "torch.vstack([i(3), f(2, 3)])" => try_vstack((i::<shape![3]>(), f::<shape![2, 3]>()));
    "torch.vstack([i(), i()])" => try_vstack([i::<shape![]>(), i::<shape![]>()]);
    "torch.dstack([i(3), i(3)])" => try_dstack((i::<shape![3]>(), i::<shape![3]>()));
    "torch.dstack([i(2, 2), f(2, 2, 2)])" => try_dstack((i::<shape![2, 2]>(), f::<shape![2, 2, 2]>()));
    "torch.column_stack([i(2), i(2, 3), i(2)])" => try_column_stack((i::<shape![2]>(), i::<shape![2, 3]>(), i::<shape![2]>()));
    "torch.column_stack([i(), i()])" => try_column_stack((i::<shape![]>(), i::<shape![]>()));
    "torch.meshgrid(i(2), i(3), indexing='ij')" => Ok(meshgrid((i::<shape![2]>(), i::<shape![3]>())));
    "torch.meshgrid(i(2), i(3), indexing='xy')" => Ok(meshgrid_xy((i::<shape![2]>(), i::<shape![3]>())));
    "torch.meshgrid(f(2), f(3), f(4), indexing='ij')" => Ok(meshgrid((f::<shape![2]>(), f::<shape![3]>(), f::<shape![4]>())));
    "torch.meshgrid(f(2), f(0), f(4), indexing='xy')" => Ok(meshgrid_xy((f::<shape![2]>(), f::<shape![0]>(), f::<shape![4]>())));
    "torch.cartesian_prod(i(2), i(3))" => try_cartesian_prod((i::<shape![2]>(), i::<shape![3]>()));
    "torch.cartesian_prod(f(2), f(1), f(3))" => try_cartesian_prod((f::<shape![2]>(), f::<shape![1]>(), f::<shape![3]>()));
    "torch.cartesian_prod(i(2), i(0))" => try_cartesian_prod((i::<shape![2]>(), i::<shape![0]>()));
    "torch.broadcast_tensors(i(3), f(2, 1))" => try_broadcast_tensors((i::<shape![3]>(), f::<shape![2, 1]>()));
    "torch.broadcast_tensors(i(3), f(), i(4, 1, 1))" =>
        try_broadcast_tensors((i::<shape![3]>(), f::<shape![]>(), i::<shape![4, 1, 1]>()));
    "torch.block_diag(i(2, 3), i(1, 2))" => try_block_diag((i::<shape![2, 3]>(), i::<shape![1, 2]>()));
    "torch.block_diag(i(2, 3), f(2), i())" => try_block_diag((i::<shape![2, 3]>(), f::<shape![2]>(), i::<shape![]>()));
    "torch.block_diag(i(2, 0), i(0, 2), i(1, 1), i(2, 1).T)" =>
        try_block_diag((i::<shape![2, 0]>(), i::<shape![0, 2]>(), i::<shape![1, 1]>(), i::<shape![2, 1]>().t()));
    "torch.block_diag(i(2, 2), i(2, 2))" => try_block_diag(vec![i::<shape![2, 2]>(); 2]);
    "torch.logspace(0, 3, 4)" => Tensor::<f32, shape![4]>::try_logspace(0, 3, 10);
    "torch.logspace(-1.5, 2, 9, base=2)" => Tensor::<f32, shape![9]>::try_logspace(-1.5, 2, 2);
    "torch.logspace(0.3, -2.5, 8, dtype=torch.float64)" => Tensor::<f64, shape![_]>::try_logspace_sized([8], 0.3, -2.5, 10);
    "torch.logspace(0.3, 2.5, 5, dtype=torch.float16)" => Tensor::<f16, shape![5]>::try_logspace(0.3, 2.5, 10);
    "torch.logspace(0, 2, 5, base=-2.)" => Tensor::<f32, shape![5]>::try_logspace(0, 2, -2.0);
    "torch.logspace(0, 3, 6, dtype=torch.int64)" => Tensor::<i64, shape![6]>::try_logspace(0, 3, 10);
    "torch.logspace(0.5, 2.5, 3, dtype=torch.int32)" => Tensor::<i32, shape![3]>::try_logspace(0.5, 2.5, 10);
    "torch.logspace(0.5, 3, 1, dtype=torch.int32)" => Tensor::<i32, shape![1]>::try_logspace(0.5, 3, 10);
    "torch.logspace(0, 5, 4, dtype=torch.uint8)" => Tensor::<u8, shape![4]>::try_logspace(0, 5, 10);
    "torch.logspace(0, 3, 0)" => Tensor::<f32, shape![0]>::try_logspace(0, 3, 10);
    "torch.tril_indices(3, 4)" => Tensor::<i64, shape![2, _]>::try_tril_indices(3, 4, 0);
    "torch.tril_indices(3, 4, 1, dtype=torch.int32)" => Tensor::<i32, shape![2, _]>::try_tril_indices(3, 4, 1);
    "torch.tril_indices(4, 3, -2)" => Tensor::<i64, shape![2, 3]>::try_tril_indices(4, 3, -2);
    "torch.tril_indices(2, 3, -9)" => Tensor::<i64, shape![2, _]>::try_tril_indices(2, 3, -9);
    "torch.triu_indices(3, 4)" => Tensor::<i64, shape![2, _]>::try_triu_indices(3, 4, 0);
    "torch.triu_indices(3, 4, -1, dtype=torch.int32)" => Tensor::<i32, shape![2, _]>::try_triu_indices(3, 4, -1);
    "torch.triu_indices(4, 3, 2)" => Tensor::<i64, shape![2, _]>::try_triu_indices(4, 3, 2);
    "torch.triu_indices(0, 3, 2)" => Tensor::<i64, shape![2, _]>::try_triu_indices(0, 3, 2);
}

#[test]
fn tensors_made_of_several_are_pytorchs() {
    let table = json("moving.json");
    let rows = table["constants"].as_array().unwrap();
    for row in rows {
        let case = row["case"].as_str().unwrap();
        let given = constant(case).unwrap_or_else(|| panic!("no case {case}"));
        compare(&given, row).unwrap_or_else(|why| panic!("{case}: {why}"));
    }
    assert!(rows.len() > 20);
}

/// Sizes that follow from known sizes are in the type: that this compiles is the test.
#[test]
fn known_sizes_stay_known() {
    dims! { Batch }
    let x = Tensor::<f32, shape![2, 3, 4]>::zeros();
    let _: Tensor<f32, shape![2, 3, 4]> = x.flip(axis![0, -1]).roll(3).roll_axis(axis![0], 1).tril(0).triu(-1);
    let _: Tensor<f32, shape![2, 4, 3]> = x.rot90::<-1, _, _>(axis![1, 2]);
    let _: Tensor<f32, shape![3, 4, 2]> = x.movedim(axis![0], axis![-1]);
    let _: Tensor<f32, shape![5, 2, 6, 12]> = x.repeat::<shape![5, 1, 2, 3]>();
    let _: Tensor<f32, shape![2, 3, 12]> = x.tile::<shape![3]>();
    let _: Tensor<f32, shape![2, 9, 4]> = x.repeat_interleave::<dim!(3), _>(axis![1]);
    let _: Tensor<f32, shape![2, 4, 7]> = x.pad::<shape![1, 2, 0, 1], _>(Constant(0));
    let _: Tensor<f32, shape![2, _, _]> = x.pad_sized([1, 2, 0, 1], Reflect);
    let _: [Tensor<f32, shape![2, 3, 2]>; 2] = x.chunk_array(axis![2]);
    let _: (Tensor<f32, shape![2, 1, 4]>, Tensor<f32, shape![2, 2, 4]>) = x.split_into::<shape![1, 2], _>(axis![1]);
    let _: [Tensor<f32, shape![3, 4]>; 2] = x.unbind_array(axis![0]);
    let _: Tensor<f32, shape![2, 3, 2, 3]> = x.unfold::<dim!(3), dim!(1), _>(axis![2]);
    let _: Tensor<f32, shape![4, 2]> = x.diagonal(axis![0, 1]);
    let _: Tensor<f32, shape![2, 3, 4, 4]> = x.diag_embed();
    let _: Tensor<f32, shape![2, 7, 4]> = hstack((&x, Tensor::<f32, shape![2, 4, 4]>::zeros()));

    let named = Tensor::<i64, shape![Batch, 3]>::zeros_sized([5, 3]);
    let _: Tensor<i64, shape![Batch, 3]> = named.flip(axis![0]).roll(1).triu(0);
    let _: Tensor<i64, shape![Batch, 6]> = named.repeat::<shape![1, 2]>();
    let _: [Tensor<i64, shape![Batch]>; 3] = named.unbind_array(axis![1]);
    let _: Tensor<i64, shape![_]> = named.diagonal(axis![0, 1]);
    let _: Tensor<i64, shape![3, Batch]> = named.movedim(axis![0], axis![1]);
}

/// Parts are views, and what they are views of stays what it is when they are written.
/// `flip` keeps the layout of its operand, as PyTorch's does.
#[test]
fn flip_keeps_the_layout() {
    let x = Tensor::<u8, shape![2, 3, 4]>::zeros().permute(axis![2, 0, 1]);
    assert_eq!(x.flip(axis![0]).stride(), x.stride());
    assert!(x.roll_axis(axis![0], 1).is_contiguous());
}

/// Shapes and strides of results need no data; what depends on data says that there is none.
#[test]
fn meta_tensors_have_the_shapes() {
    let x = Tensor::<f32, shape![1_000_000, 1_000_000], Meta>::zeros();
    assert_eq!(x.flip(axis![0]).tril(0).repeat::<shape![2, 1]>().shape(), [2_000_000, 1_000_000]);
    assert_eq!(x.pad::<shape![1, 2], _>(Reflect).shape(), [1_000_000, 1_000_003]);
    assert_eq!(x.diagonal(axis![0, 1]).diag_embed().shape(), [1_000_000, 1_000_000]);
    assert_eq!(hstack((&x, &x)).shape(), [1_000_000, 2_000_000]);
    assert!(x.trace().shape().is_empty());
    assert_eq!(x.multinomial(3, true, &mut Generator::seeded(0)).shape(), [1_000_000, 3]);
    let counts = Tensor::<i64, shape![1_000_000], Meta>::zeros();
    let error = x.try_repeat_interleave_by(axis![0], &counts).unwrap_err();
    assert!(matches!(error, Error::NoData { op: "repeat_interleave", .. }), "{error:?}");
}

/// Shell dtypes move like any other.
#[test]
fn shell_dtypes_move() {
    let x: Tensor<u16, shape![3]> = Tensor::from_vec(vec![1, 2, 3]);
    assert_eq!(x.flip(axis![0]).to_vec(), [3, 2, 1]);
    assert_eq!(x.repeat::<shape![2]>().to_vec(), [1, 2, 3, 1, 2, 3]);
    assert_eq!(x.pad::<shape![1, 0], _>(Circular).to_vec(), [3, 1, 2, 3]);
    assert_eq!(x.pad::<shape![1, 0], _>(Constant(7)).to_vec(), [7, 1, 2, 3]);
    assert_eq!(x.diag().tril(-1).to_vec(), [0; 9]);
}

#[test]
fn errors_say_what_is_wrong() {
    let x = Tensor::<i64, shape![_, 3]>::zeros_sized([5, 3]);
    let texts = [
        x.try_chunk(axis![0], 0).unwrap_err().to_string(),
        x.try_chunk_array::<2, 0>(axis![0]).unwrap_err().to_string(),
        x.try_split(axis![0], 0).unwrap_err().to_string(),
        x.try_split_sizes(axis![0], &[2, 2]).unwrap_err().to_string(),
        x.try_split_sizes(axis![0], &[usize::MAX, 6]).unwrap_err().to_string(),
        x.try_split_into::<shape![4, 2], 0>(axis![0]).unwrap_err().to_string(),
        x.try_unbind_array::<4, 0>(axis![0]).unwrap_err().to_string(),
        x.try_unfold_sized(axis![1], 4, 1).unwrap_err().to_string(),
        x.try_unfold_sized(axis![1], 2, 0).unwrap_err().to_string(),
        x.try_pad_sized([0, 3], Reflect).unwrap_err().to_string(),
        x.try_pad_sized([isize::MAX, isize::MAX], Constant(0)).unwrap_err().to_string(),
        x.to::<u8>().try_pad_sized([1, 0], Constant(300)).unwrap_err().to_string(),
        x.try_repeat_interleave_by(axis![1], &tensor![1, -1, 2]).unwrap_err().to_string(),
        x.try_repeat_interleave_by(axis![0], &tensor![1, 1, 2]).unwrap_err().to_string(),
        x.try_repeat_sized::<shape![_, _]>([usize::MAX, 1]).unwrap_err().to_string(),
        x.try_repeat_interleave_sized(axis![0], usize::MAX).unwrap_err().to_string(),
        tensor![1, 2].try_diag_at(isize::MAX).unwrap_err().to_string(),
        try_vstack((&x, Tensor::<i64, shape![_, _]>::zeros_sized([1, 2]))).unwrap_err().to_string(),
        Tensor::<i32, shape![2, _]>::try_tril_indices(3_000_000_000, 1, 0).unwrap_err().to_string(),
    ];
    assert_eq!(
        texts,
        [
            "chunk: there must be at least one chunk",
            "chunk: axis 0 of size 5 can't be cut into 2 equal parts",
            "split: an axis of size 5 can't be cut into parts of size 0",
            "split: sizes [2, 2] do not add up to 5, the size of axis 0",
            "split: sizes [18446744073709551615, 6] do not add up to 5, the size of axis 0",
            "split: sizes [4, 2] do not add up to 5, the size of axis 0",
            "unbind: axis 0 has 5 positions, not 4",
            "unfold: a window of size 4 does not fit axis 1 of size 3",
            "unfold: windows can't be 0 apart",
            "pad: axis 1 of size 3 can't be padded by 0 before and 3 after",
            "pad: a tensor of shape [18446744073709551615] has more elements than memory can address",
            "pad: the scalar 300 does not fit uint8",
            "repeat_interleave: the count -1 is negative",
            "repeat_interleave: there are 3 counts for an axis of size 5",
            "repeat: a tensor of shape [5, 18446744073709551615] has more elements than memory can address",
            "repeat_interleave: a tensor of shape [18446744073709551615] has more elements than memory can address",
            "diag: a tensor of shape [9223372036854775809, 9223372036854775809] has more elements than memory can address",
            "vstack: tensors of shapes [5, 3] and [1, 2] can't be joined along axis 0: all other sizes must be the same",
            "tril_indices: the scalar 3000000000 does not fit int32",
        ]
    );
}

/// The pieces that threads copy are put together as one thread would: shapes that are split along every axis.
#[test]
fn large_tensors_move_as_small_ones_do() {
    for sizes in [[3, 700, 2000], [2000, 3, 700], [700, 2000, 3]] {
        let x = Tensor::<i32, shape![_]>::arange(0, 4_200_000, 1).reshape_sized::<shape![_, _, _]>(sizes);
        let at = |[i, j, k]: [usize; 3]| ((i * sizes[1] + j) * sizes[2] + k) as i32;
        let flipped = x.flip(axis![0, 1, 2]);
        let rolled = x.roll_axis(axis![0, 1, 2], [1, -2, 1]);
        let padded = x.pad_sized([1, 0, 2, 1, 0, 1], Constant(-1));
        let each = x.narrow(axis![0], 0, 2).repeat_interleave_sized(axis![1], 2);
        let lower = x.tril(5);
        let probe = |n: usize| [n * 7919 % sizes[0], n * 104_729 % sizes[1], n * 1_299_709 % sizes[2]];
        for [i, j, k] in (0..2000).map(probe) {
            assert_eq!(flipped[[i, j, k]], at([sizes[0] - 1 - i, sizes[1] - 1 - j, sizes[2] - 1 - k]));
            let from = [(i + sizes[0] - 1) % sizes[0], (j + 2) % sizes[1], (k + sizes[2] - 1) % sizes[2]];
            assert_eq!(rolled[[i, j, k]], at(from));
            assert_eq!(padded[[i, j + 2, k + 1]], at([i, j, k]));
            assert_eq!((padded[[i, j % 2, k]], padded[[sizes[0], j, k]]), (-1, -1));
            assert_eq!(each[[i % 2, 2 * j + 1, k]], at([i % 2, j, k]));
            assert_eq!(lower[[i, j, k]], if k <= j + 5 { at([i, j, k]) } else { 0 });
        }
    }
}

/// Blocks of few elements are copied backwards, and out of wider rows, without touching their neighbours; so are rows in parts.
#[test]
fn blocks_of_every_length_are_moved() {
    macro_rules! check {
        ($($E:ty),*) => {$(
            let same = |got: Tensor<$E, (Dyn, Dyn, Dyn)>, sizes: [usize; 3], at: &dyn Fn([usize; 3]) -> $E| {
                assert_eq!(got.shape(), sizes);
                assert!(got.iter().eq(Tensor::<$E, (Dyn, Dyn, Dyn)>::from_fn_sized(sizes, at).iter()));
            };
            for len in 1..36 {
                for count in [0, 1, 2, 3, 9] {
                    let element = |[i, j, k]: [usize; 3]| ((i * 31 + j * 7 + k) % 251) as u8 as $E;
                    let x = Tensor::<$E, shape![_, _, _]>::from_fn_sized([2, count, len + 3], element);
                    for first in [1, 0] {
                        let (part, sizes) = (x.narrow(axis![2], first, len), [2, count, len]);
                        let at = |[i, j, k]: [usize; 3]| element([i, j, k + first]);
                        same(part.flip(axis![1]), sizes, &|[i, j, k]| at([i, count - 1 - j, k]));
                        same(part.flip(axis![0]), sizes, &|[i, j, k]| at([1 - i, j, k]));
                        same(part.roll_axis(axis![2], -1), sizes, &|[i, j, k]| at([i, j, (k + 1) % len]));
                        let inside = |k: usize| (1..=len).contains(&k);
                        let padded = |[i, j, k]: [usize; 3]| if inside(k) { at([i, j, k - 1]) } else { 9_u8 as $E };
                        same(part.pad_sized([1, 2], Constant(9_u8 as $E)), [2, count, len + 3], &padded);
                    }
                }
            }
        )*};
    }
    check!(u8, i16, f32, i64);
}

/// Samples occur as often as their probabilities say, and the same seed gives the same samples.
#[test]
fn draws_follow_the_probabilities() {
    let mut generator = Generator::seeded(7);
    let p = tensor![0.0, 0.1, 0.5, 1.0].expand::<shape![20_000, 4]>().contiguous();
    let drawn = p.bernoulli(&mut generator).mean_axis(axis![0]).to_vec();
    assert_eq!((drawn[0], drawn[3]), (0.0, 1.0));
    assert!((drawn[1] - 0.1).abs() < 0.01 && (drawn[2] - 0.5).abs() < 0.015, "{drawn:?}");
    let weights = tensor![1.0, 0.0, 3.0, 4.0];
    let frequency = |drawn: &[i64], position: i64| {
        drawn.iter().filter(|&&other| other == position).count() as f64 / drawn.len() as f64
    };
    let with = weights.multinomial(40_000, true, &mut generator).to_vec();
    let first: Vec<i64> = (0..40_000).map(|_| weights.multinomial(2, false, &mut generator)[0]).collect();
    for drawn in [with, first] {
        for (position, share) in [(0, 0.125), (1, 0.0), (2, 0.375), (3, 0.5)] {
            assert!((frequency(&drawn, position) - share).abs() < 0.01, "{position} {}", frequency(&drawn, position));
        }
    }
    let rows = tensor![[1.0, 0.0], [0.0, 1.0]];
    assert_eq!(rows.multinomial(2, false, &mut generator).to_vec(), [0, 1, 1, 0]);
    let twice = |_| weights.multinomial(10, true, &mut Generator::seeded(3)).to_vec();
    assert_eq!(twice(0), twice(1));
    let refused = |weights: Tensor<f32, shape![2]>, samples, replacement| {
        weights.try_multinomial(samples, replacement, &mut Generator::seeded(0)).unwrap_err().to_string()
    };
    assert_eq!(refused(tensor![1.0, 1.0], 3, false), "multinomial: 3 samples can't be drawn from 2 positions");
    assert_eq!(refused(tensor![1.0, 1.0], 0, true), "multinomial: there must be at least one sample");
    assert_eq!(refused(tensor![1.0, -1.0], 1, true), "multinomial: the weight -1 is negative or not finite");
    assert_eq!(refused(tensor![0.0, 0.0], 1, true), "multinomial: the weights of a row add up to zero");
    let p = tensor![0.5, 1.5].try_bernoulli(&mut generator).unwrap_err();
    assert_eq!(p.to_string(), "bernoulli: 1.5 is not a probability");
}
