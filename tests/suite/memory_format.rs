//! Memory formats, compared with PyTorch's: the rules on sizes and strides, and the strides of tensors.

use crate::common::json;
use castiron::layout::memory_format::{OperandLayout, elementwise, joined, stacked};
use castiron::layout::strides::{is_dense, row_major};
use castiron::pad::{Circular, Constant};
use castiron::{
    AnyTensor, ChannelsLast, ChannelsLast3d, Contiguous, Device, Dtype, Dyn, Element, Error, Float, Generator,
    MemoryFormat, Meta, Preserve, Shape, Tensor, axis, shape, where_,
};
use serde_json::Value;
use std::collections::HashMap;

/// The formats in the order of the table's columns.
const FORMATS: [MemoryFormat; 4] =
    [MemoryFormat::CONTIGUOUS, MemoryFormat::CHANNELS_LAST, MemoryFormat::CHANNELS_LAST_3D, MemoryFormat::PRESERVE];

fn list(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

fn rows(table: &Value, name: &str) -> Vec<Value> {
    table[name].as_array().cloned().unwrap_or_default()
}

/// Compares strides with PyTorch's, or that a format is refused for another number of axes.
fn same(ours: castiron::Result<Vec<usize>>, theirs: &Value, what: &str) {
    match theirs.as_str() {
        Some(_) => assert!(matches!(ours, Err(Error::InvalidArgument { .. })), "{what}: {ours:?}"),
        None => assert_eq!(ours, Ok(list(theirs)), "{what}"),
    }
}

#[test]
fn rules_for_one_tensor() {
    let table = json("memory_format.json");
    let mut answers = 0;
    for case in rows(&table, "cases") {
        let (sizes, strides) = (list(&case["shape"]), list(&case["stride"]));
        let what = |column: &str| format!("{column} of {}", case["d"]);
        assert_eq!(is_dense(&sizes, &strides), case["nonoverlap_dense"] == true);
        assert_eq!(MemoryFormat::suggested(&sizes, &strides).name(), case["suggest_mf"], "{}", what("suggested"));
        assert_eq!(MemoryFormat::CONTIGUOUS.is_order_of(&sizes, &strides), case["contiguous_is_self"] == 1);
        for (at, format) in FORMATS.into_iter().enumerate() {
            assert_eq!(
                format.is_order_of(&sizes, &strides),
                case["is_contiguous"][at] == 1,
                "{}",
                what("is_contiguous")
            );
            for column in ["clone", "empty_like", "to_f64"] {
                same(format.copied(column, &sizes, &strides), &case[column][at], &what(column));
            }
            let to = match format.is_kept_by_to(&sizes, &strides) {
                true => Ok(strides.clone()),
                false => format.copied("to", &sizes, &strides),
            };
            same(to, &case["to_same"][at], &what("to_same"));
            let contiguous = format.made_contiguous(&sizes, &strides);
            same(contiguous.map(|made| made.unwrap_or(strides.clone())), &case["contiguous"][at], &what("contiguous"));
            answers += 6;
        }
        let it: OperandLayout = (&sizes, &strides, false);
        let scalar: OperandLayout = (&[], &[], false);
        let kept = MemoryFormat::PRESERVE.copied("", &sizes, &strides).unwrap();
        let mask = elementwise(&sizes, &[it, scalar]);
        let mut reduced = sizes.clone();
        if let Some(last) = reduced.last_mut() {
            *last = 1;
        }
        for (columns, ours) in [
            (&["clone", "zeros_like", "to_f64", "flip0"][..], &kept),
            (&["abs"], &elementwise(&sizes, &[it])),
            (&["t+t"], &elementwise(&sizes, &[it, it])),
            (&["t+1", "t<1"], &mask),
            (&["where"], &elementwise(&sizes, &[(&sizes, &mask, false), it, it])),
            (&["empty(strides ignored)new_empty", "cumsum0", "softmax0"], &row_major(&sizes)),
            (&["sum_keepdim_last"], &row_major(&reduced)),
            (&["reshape_flat"], &vec![1]),
        ] {
            for column in columns {
                // (A comparison of a zero-dim tensor gives a Python bool in the table; a flat copy is not what is asked here.)
                let Some(theirs) = case["default"].get(column).filter(|strides| strides.is_array()) else { continue };
                if *column != "reshape_flat" {
                    assert_eq!(*ours, list(theirs), "{}", what(column));
                    answers += 1;
                }
            }
        }
    }
    println!("{answers} answers for one tensor agree");
    assert!(answers > 0);
}

/// The layouts of the table by name: sizes and strides of tensors that broadcast to (2, 3, 4, 5).
fn layouts(table: &Value) -> HashMap<String, (Vec<usize>, Vec<usize>)> {
    let mut layouts = HashMap::new();
    for row in rows(table, "binary").iter().filter(|row| list(&row[6]) == [2, 3, 4, 5]) {
        for side in 0..2 {
            let layout = (list(&row[2 + 2 * side]), list(&row[3 + 2 * side]));
            layouts.insert(row[side].as_str().unwrap().to_owned(), layout);
        }
    }
    layouts
}

#[test]
fn rules_for_two_and_three_operands() {
    let table = json("memory_format.json");
    let mut results = 0;
    for row in rows(&table, "binary") {
        let [a_sizes, a_strides, b_sizes, b_strides, sizes] = [2, 3, 4, 5, 6].map(|i| list(&row[i]));
        let (a, b): (OperandLayout, OperandLayout) = ((&a_sizes, &a_strides, false), (&b_sizes, &b_strides, false));
        let sum = elementwise(&sizes, &[a, b]);
        // `a` is converted to the dtype of `b.to::<f64>()`, which is dense.
        let mixed = elementwise(&sizes, &[(a.0, a.1, true), (b.0, b.1, true)]);
        let mask = elementwise(&a_sizes, &[a, (&[], &[], false)]);
        let chosen = elementwise(&sizes, &[(&a_sizes, &mask, false), a, b]);
        for (ours, column) in [(&sum, 7), (&sum, 8), (&mixed, 9), (&chosen, 10), (&sum, 11)] {
            assert_eq!(*ours, list(&row[column]), "column {column} of {row}");
        }
        results += 1;
    }
    let layouts = layouts(&table);
    for row in rows(&table, "ternary") {
        let sizes = [2, 3, 4, 5];
        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|i| layouts.get(row[i].as_str().unwrap())) else { continue };
        let [a, b, c] = [a, b, c].map(|(sizes, strides)| -> OperandLayout { (sizes, strides, false) });
        assert_eq!(elementwise(&sizes, &[a, b, c]), list(&row[3]), "{row}");
        let mask = elementwise(a.0, &[a, (&[], &[], false)]);
        assert_eq!(elementwise(&sizes, &[(a.0, &mask, false), b, c]), list(&row[4]), "{row}");
        results += 1;
    }
    println!("{results} results agree");
    assert!(results > 0);
}

/// `torch.cat` and `torch.stack` of tensors of arbitrary layouts.
#[test]
fn rules_for_joined_tensors() {
    let mut results = 0;
    for row in rows(&json("joined.json"), "rows") {
        let (axis, sizes) = (row[1].as_u64().unwrap() as usize, list(&row[3]));
        let is_stack = row[0] == "stack";
        let suggested = row[2].as_array().unwrap().iter().map(|piece| {
            let (mut sizes_of, mut strides) = (list(&piece[0]), list(&piece[1]));
            // Along a new last axis they are joined with the axis in place.
            if is_stack && axis + 1 == sizes.len() {
                sizes_of.push(1);
                strides.push(1);
            }
            MemoryFormat::suggested(&sizes_of, &strides)
        });
        let suggested: Vec<MemoryFormat> = suggested.collect();
        let ours = match is_stack {
            true => stacked(&sizes, axis, &suggested),
            false => joined(&suggested).copied("cat", &sizes, &row_major(&sizes)).unwrap(),
        };
        assert_eq!(ours, list(&row[4]), "{row}");
        results += 1;
    }
    println!("{results} joined tensors agree");
    assert!(results > 0);
}

/// A tensor of these sizes, strides and offset, made of views alone: axis after axis as windows over a line of memory.
macro_rules! strided {
    ($sizes:expr, $strides:expr, $offset:expr; $($axis:literal)*) => {{
        let (sizes, strides): (&[usize], &[usize]) = ($sizes, $strides);
        let reach = |axis: usize| sizes[axis].saturating_sub(1) * strides[axis];
        let len = 1 + $offset + (0..sizes.len()).map(reach).sum::<usize>();
        let line: Tensor<f32, shape![_]> = (0..len).map(|at| (at % 7) as f32 - 2.0).collect();
        $(
            let places = line.unfold_sized(axis![0], reach($axis) + 1, 1);
            let mut line = places.unfold_sized(axis![-1], 1, strides[$axis].max(1)).select(axis![-1], 0);
            if strides[$axis] == 0 {
                let mut repeated = line.shape();
                *repeated.last_mut().unwrap() = sizes[$axis].max(2);
                line = line.expand_sized(repeated);
            }
            let line = line.narrow(axis![-1], 0, sizes[$axis]);
        )*
        let made = line.select(axis![0], $offset);
        assert_eq!((&made.shape()[..], &made.stride()[..], made.storage_offset()), (sizes, strides, $offset));
        made
    }};
}

/// What the table says of one tensor, asked of the tensor itself.
struct Asked<'a> {
    case: &'a Value,
    answers: usize,
}

impl Asked<'_> {
    fn strides<E: Element, S: Shape, D: Device>(&mut self, ours: &Tensor<E, S, D>, theirs: &Value, what: &str) {
        if theirs.is_array() {
            assert_eq!(ours.stride().as_ref(), list(theirs), "{what} of {}", self.case["d"]);
            self.answers += 1;
        }
    }

    /// What every tensor is asked, whatever its rank.
    fn any_rank<S: Shape>(&mut self, x: &Tensor<f32, S>) {
        let case = self.case;
        let default = &case["default"];
        assert_eq!(x.suggest_memory_format().name(), case["suggest_mf"], "{}", case["d"]);
        assert_eq!(x.is_contiguous(), case["contiguous_is_self"] == 1);
        assert_eq!(x.contiguous().shares_storage(x), case["contiguous_is_self"] == 1);
        self.strides(&x.contiguous(), &default["contiguous"], "contiguous");
        self.strides(&x.zeros_like(), &default["zeros_like"], "zeros_like");
        self.strides(&x.rand_like(&mut Generator::seeded(0)), &default["zeros_like"], "rand_like");
        self.strides(&x.to::<f64>(), &default["to_f64"], "to");
        self.strides(&x.abs(), &default["abs"], "abs");
        self.strides(&(x + 1.0), &default["t+1"], "t + 1");
        self.strides(&(x.lazy() + 1.0).eval(), &default["t+1"], "t + 1 in one pass");
        self.strides(&(x + x), &default["t+t"], "t + t");
        self.strides(&x.lt(1.0), &default["t<1"], "t < 1");
        self.strides(&where_(x.gt(0), x, -x), &default["where"], "where");
        self.format(x, Contiguous, 0);
        self.format(x, Preserve, 3);
        self.strides(&x.contiguous_in(Contiguous), &case["contiguous"][0], "contiguous_in");
    }

    /// What every tensor with axes is asked.
    fn along_axes<S: Shape>(&mut self, sum: &Tensor<f32, S>, others: [&Tensor<f32, S>; 3]) {
        let default = &self.case["default"];
        self.strides(sum, &default["sum_keepdim_last"], "sum");
        for (ours, column) in others.into_iter().zip(["cumsum0", "flip0", "softmax0"]) {
            self.strides(ours, &default[column], column);
        }
    }

    /// What every tensor is asked in a format that its rank has, the one in this column.
    fn format<S: Shape, M: castiron::layout::memory_format::FormatFor<S>>(
        &mut self,
        x: &Tensor<f32, S>,
        format: M,
        at: usize,
    ) {
        let case = self.case;
        assert_eq!(x.is_contiguous_in(format), case["is_contiguous"][at] == 1, "{}", case["d"]);
        let copy = x.clone_in(format);
        assert!(!copy.shares_storage(x));
        assert_eq!(copy.to_vec(), x.to_vec());
        self.strides(&copy, &case["clone"][at], "clone");
        self.strides(&x.empty_like_in(format), &case["empty_like"][at], "empty_like");
        self.strides(&x.ones_like_in(format), &case["empty_like"][at], "ones_like");
        self.strides(&x.full_like_in(2, format), &case["empty_like"][at], "full_like");
        self.strides(&x.to_in::<f64>(format), &case["to_f64"][at], "to_in");
        let same = x.to_memory_format(format);
        self.strides(&same, &case["to_same"][at], "to_memory_format");
        assert_eq!(same.to_vec(), x.to_vec());
        self.strides(&x.to_in::<f32>(format), &case["to_same"][at], "to_in the same dtype");
        // Without data it is the same.
        let plan = x.to_device::<Meta>().unwrap();
        if x.stride() == plan.stride() {
            self.strides(&plan.clone_in(format), &case["clone"][at], "clone on meta");
            self.strides(&plan.to_memory_format(format), &case["to_same"][at], "to_memory_format on meta");
        }
    }
}

#[test]
fn tensors_lie_as_pytorchs_do() {
    let table = json("memory_format.json");
    let mut answers = 0;
    for case in rows(&table, "cases") {
        let (sizes, strides) = (list(&case["shape"]), list(&case["stride"]));
        let offset = case["off"].as_u64().unwrap() as usize;
        let mut asked = Asked { case: &case, answers: 0 };
        macro_rules! ask {
            ($($axis:literal)+) => {{
                let x = strided!(&sizes, &strides, offset; $($axis)+);
                asked.any_rank(&x);
                let sum: Tensor<f32, _> = x.sum_axis(axis![-1].keepdim()).with_shape();
                asked.along_axes(&sum, [&x.cumsum(axis![0]), &x.flip(axis![0]), &x.softmax(axis![0])]);
                x
            }};
        }
        match sizes.len() {
            0 => asked.any_rank(&strided!(&sizes, &strides, offset; )),
            1 => drop(ask!(0)),
            2 => drop(ask!(0 1)),
            3 => drop(ask!(0 1 2)),
            4 => {
                let x = ask!(0 1 2 3);
                asked.format(&x, ChannelsLast, 1);
                let made = x.contiguous_in(ChannelsLast);
                asked.strides(&made, &case["contiguous"][1], "contiguous_in");
                assert_eq!(made.shares_storage(&x), case["is_contiguous"][1] == 1);
            }
            5 => {
                let x = ask!(0 1 2 3 4);
                asked.format(&x, ChannelsLast3d, 2);
                asked.strides(&x.contiguous_in(ChannelsLast3d), &case["contiguous"][2], "contiguous_in");
            }
            6 => drop(ask!(0 1 2 3 4 5)),
            rank => panic!("rank {rank}"),
        }
        answers += asked.answers;
    }
    println!("{answers} layouts of tensors agree");
    assert!(answers > 0);
}

#[test]
fn results_of_tensors_lie_as_pytorchs_do() {
    let table = json("memory_format.json");
    let mut results = 0;
    for row in rows(&table, "binary") {
        let [a_sizes, a_strides, b_sizes, b_strides] = [2, 3, 4, 5].map(|i| list(&row[i]));
        macro_rules! ask {
            ([$($a:literal)*] [$($b:literal)*]) => {{
                let a = strided!(&a_sizes, &a_strides, 0; $($a)*);
                let b = strided!(&b_sizes, &b_strides, 0; $($b)*);
                let check = |ours: &[usize], column: usize| assert_eq!(ours, list(&row[column]), "column {column} of {row}");
                check(&(&a + &b).stride(), 7);
                check(&a.gt(&b).stride(), 8);
                check(&(&a + b.to::<f64>()).stride(), 9);
                check(&where_(a.gt(0), &a, &b).stride(), 10);
                check(&(a.lazy() + &b).eval().stride(), 7);
                results += 1;
            }};
        }
        match (a_sizes.len(), b_sizes.len()) {
            (4, 4) => ask!([0 1 2 3] [0 1 2 3]),
            (4, 1) => ask!([0 1 2 3] [0]),
            (1, 4) => ask!([0] [0 1 2 3]),
            (4, 0) => ask!([0 1 2 3] []),
            (0, 4) => ask!([] [0 1 2 3]),
            (3, 3) => ask!([0 1 2] [0 1 2]),
            (3, 1) => ask!([0 1 2] [0]),
            (1, 3) => ask!([0] [0 1 2]),
            (3, 0) => ask!([0 1 2] []),
            (0, 3) => ask!([] [0 1 2]),
            (2, 2) => ask!([0 1] [0 1]),
            (2, 1) => ask!([0 1] [0]),
            (1, 2) => ask!([0] [0 1]),
            (2, 0) => ask!([0 1] []),
            (0, 2) => ask!([] [0 1]),
            (1, 1) => ask!([0][0]),
            (1, 0) => ask!([0] []),
            (0, 1) => ask!([][0]),
            (0, 0) => ask!([] []),
            ranks => panic!("ranks {ranks:?}"),
        }
    }
    let layouts = layouts(&table);
    for row in rows(&table, "ternary") {
        let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|i| layouts.get(row[i].as_str().unwrap())) else { continue };
        macro_rules! ask {
            ([$($a:literal)*] [$($c:literal)*]) => {{
                let a = strided!(&a.0, &a.1, 0; $($a)*);
                let (b, c) = (strided!(&b.0, &b.1, 0; 0 1 2 3), strided!(&c.0, &c.1, 0; $($c)*));
                assert_eq!(where_(a.gt(0), &b, &c).stride(), list(&row[4])[..], "{row}");
                results += 1;
            }};
        }
        match (a.0.len(), c.0.len()) {
            (4, 4) => ask!([0 1 2 3] [0 1 2 3]),
            (4, 0) => ask!([0 1 2 3] []),
            (1, 4) => ask!([0] [0 1 2 3]),
            (1, 0) => ask!([0] []),
            ranks => panic!("ranks {ranks:?}"),
        }
    }
    println!("{results} results of tensors agree");
    assert!(results > 0);
}

/// Bounds that say what the function does, and nothing about formats.
fn normalized<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    let x = x.contiguous_in(Contiguous).clone_in(Preserve);
    (&x - x.zeros_like_in(Contiguous)).to_memory_format(Preserve)
}
fn images<E: Dtype, D: Device, N: castiron::Dim, C: castiron::Dim>(
    x: &Tensor<E, (N, C, Dyn, Dyn), D>,
) -> Tensor<E, (N, C, Dyn, Dyn), D> {
    x.to_memory_format(ChannelsLast)
}

#[test]
fn generic_code_needs_no_bounds() {
    let x = Tensor::<f32, shape![2, 3, _, _]>::ones_sized([2, 3, 4, 5]);
    assert_eq!(normalized(&images(&x)).stride(), [60, 20, 5, 1]);
    assert_eq!(images(&x).stride(), [60, 1, 15, 3]);
}

/// Source: `constant_pad_nd` and `roll` (by `cat`) suggest the format of their input, `rot90` clones in `contiguous_format`.
#[test]
fn moved_images_lie_as_pytorchs_do() {
    let rows = Tensor::<f32, shape![2, 3, 4, 5]>::rand(&mut Generator::seeded(1));
    let images = rows.to_memory_format(ChannelsLast);
    let padded = images.pad_sized([1, -2, 0, 3], Constant(0));
    assert!(padded.is_contiguous_in(ChannelsLast));
    assert_eq!(padded, rows.pad_sized([1, -2, 0, 3], Constant(0)));
    assert!(images.pad_sized([1, 2], Circular).is_contiguous());
    let rolled = images.roll_axis(axis![0, 3], [1, -2]);
    assert!(rolled.is_contiguous_in(ChannelsLast));
    assert_eq!(rolled, rows.roll_axis(axis![0, 3], [1, -2]));
    assert!(images.roll(7).is_contiguous() && images.rot90::<4, _, _>(axis![1, 2]).is_contiguous());
    // Stacked images: joined end to end along the next axis, which is then split.
    let stacked = castiron::stack([&images, &images], axis![1]);
    assert_eq!(stacked.stride(), [120, 3, 1, 30, 6]);
    let images = AnyTensor::from(images);
    assert_eq!(castiron::any::stack(&[images.clone(), images], 1).unwrap().stride(), stacked.stride());
}

#[test]
fn formats_are_named_as_in_pytorch() {
    let names: Vec<String> = MemoryFormat::ALL.iter().map(MemoryFormat::to_string).collect();
    assert_eq!(
        names,
        ["torch.contiguous_format", "torch.preserve_format", "torch.channels_last", "torch.channels_last_3d"]
    );
    for format in MemoryFormat::ALL {
        assert_eq!((format.name().parse(), format.to_string().parse()), (Ok(format), Ok(format)));
    }
    let error = "channel_last".parse::<MemoryFormat>().unwrap_err();
    assert!(error.to_string().starts_with("memory_format: no memory format is called `channel_last`: expected"));
    let error = MemoryFormat::CHANNELS_LAST.copied("clone", &[2, 3], &[3, 1]).unwrap_err();
    assert_eq!(error.to_string(), "clone: torch.channels_last is for tensors of 4 axes, not of 2");
    let error = MemoryFormat::PRESERVE.made_contiguous(&[2, 3], &[1, 2]).unwrap_err();
    assert_eq!(error.to_string(), "contiguous: torch.preserve_format is no order to bring elements into");
}
