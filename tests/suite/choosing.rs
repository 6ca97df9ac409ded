//! Choosing elements by indices, masks and rank, compared with PyTorch's table; then what the table does not cover: shapes in the type,
//! errors, large lanes, generic code.

use crate::common::{Answer, Tally, Token, Tolerance, json, parse_all};
use castiron::ops::choosing::{WideFloatFor, nanquantile, quantile};
use castiron::{
    Axis, Complex, Device, Dtype, Dyn, Error, Interpolation, Meta, Ordered, Real, ScatterReduce, Shape, Tensor, axis,
    bf16, dim, f16, shape, tensor,
};
use serde_json::Value;

type One<E> = Tensor<E, (Dyn,)>;
type Matrix<E> = Tensor<E, (Dyn, Dyn)>;

/// A row of the table.
struct Row<'a> {
    op: &'a str,
    layout: &'a str,
    sizes: [usize; 2],
    tokens: &'a str,
    parameters: &'a Value,
    extra: &'a Value,
}

fn sizes_of(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

impl Row<'_> {
    /// The tensor, laid out in memory as the row says.
    fn x<E: Token>(&self) -> Matrix<E> {
        let elements = parse_all::<E>(self.tokens);
        let [rows, columns] = self.sizes;
        match self.layout {
            "transposed" => {
                let turned: Vec<E> = (0..columns * rows).map(|at| elements[at % rows * columns + at / rows]).collect();
                Matrix::from_vec_sized(turned, [columns, rows]).t()
            }
            "sliced" => {
                let mut wide = Vec::new();
                for row in 0..rows {
                    wide.push(E::default());
                    wide.extend_from_slice(&elements[row * columns..(row + 1) * columns]);
                    wide.push(E::default());
                }
                Matrix::from_vec_sized(wide, [rows, columns + 2]).narrow(axis![1], 1, columns)
            }
            _ => Matrix::from_vec_sized(elements, self.sizes),
        }
    }
    /// The operand with this number, as a matrix; a vector is a row.
    fn operand<E: Token>(&self, at: usize) -> Matrix<E> {
        let sizes = sizes_of(&self.extra[at][1]);
        let sizes = if let [len] = sizes[..] { [1, len] } else { [sizes[0], sizes[1]] };
        Matrix::from_vec_sized(parse_all(self.extra[at][2].as_str().unwrap()), sizes)
    }
    fn list<E: Token>(&self, at: usize) -> Tensor<E, (Dyn,)> {
        self.operand::<E>(at).select(axis![0], 0)
    }
    fn number(&self, at: usize) -> usize {
        self.parameters[at].as_u64().unwrap() as usize
    }
    fn flag(&self, at: usize) -> bool {
        self.number(at) == 1
    }
}

/// Sizes and elements of a result.
type Part = (Vec<usize>, Answer);
fn part<E: Token, S: Shape>(result: Tensor<E, S>) -> Part {
    (result.shape().as_ref().to_vec(), Answer::new(result.to_vec()))
}
type Answers = castiron::Result<Vec<Part>>;
fn one<E: Token, S: Shape>(result: castiron::Result<Tensor<E, S>>) -> Option<Answers> {
    Some(result.map(|result| vec![part(result)]))
}
fn two<E: Token, S: Shape>(result: castiron::Result<(Tensor<E, S>, Tensor<i64, S>)>) -> Option<Answers> {
    Some(result.map(|(values, indices)| vec![part(values), part(indices)]))
}
/// The values alone; where they are is checked here, since PyTorch may choose others that are equal.
fn values<E: Token, S: Shape, const I: isize>(
    x: &Matrix<E>,
    result: castiron::Result<(Tensor<E, S>, Tensor<i64, S>)>,
) -> Option<Answers> {
    Some(result.map(|(values, indices)| {
        let lane = if I == 0 { x.clone() } else { x.t() };
        let count = if lane.shape()[1] == 0 { 0 } else { values.numel() / lane.shape()[1] };
        let lanes = lane.shape()[1];
        for (at, (value, index)) in values.iter().zip(indices.iter()).enumerate() {
            // Row-major: along axis 0 the lanes come side by side, along axis 1 one after the other.
            let of = if I == 0 { at % lanes } else { at / count };
            let there = lane[(*index as usize, of)];
            assert!(there == *value || there.parts()[0].is_nan(), "{value:?} is not at {index}");
        }
        vec![part(values)]
    }))
}

/// Moving elements, and writing them.
fn moving<E: Token + Dtype, const I: isize>(row: &Row) -> Option<Answers>
where
    (Dyn, Dyn): castiron::shape::HasAxis<I, Replace<Dyn> = (Dyn, Dyn), Removed = (Dyn,)>,
    (Dyn, Dyn): castiron::shape::Broadcast<<(Dyn, Dyn) as castiron::shape::HasAxis<I>>::Kept, Output = (Dyn, Dyn)>,
{
    let (x, along) = (row.x::<E>(), Axis::<I>);
    match row.op {
        "index_select" => one(x.try_index_select(along, row.list::<i64>(0))),
        "gather" => one(x.try_gather(along, row.operand::<i64>(0))),
        "take_along_dim" => one(x.try_take_along_dim(row.operand::<i64>(0), along)),
        "scatter" => one(x.try_scatter(along, row.operand::<i64>(0), row.operand::<E>(1))),
        "scatter_value" => one(x.try_scatter_value(along, row.operand::<i64>(0), 3)),
        "scatter_add" => one(x.try_scatter_add(along, row.operand::<i64>(0), row.operand::<E>(1))),
        "index_copy" => one(x.try_index_copy(along, row.list::<i64>(0), row.operand::<E>(1))),
        "index_add" if E::DTYPE == castiron::DType::Bool => {
            one(x.try_index_add(along, row.list::<i64>(0), row.operand::<E>(1), true))
        }
        "index_add" => one(x.try_index_add(along, row.list::<i64>(0), row.operand::<E>(1), 2)),
        "index_fill" => one(x.try_index_fill(along, row.list::<i64>(0), 3)),
        "take" => one(x.try_take(row.list::<i64>(0))),
        "nonzero" => one(x.try_nonzero()),
        "unique_consecutive" => {
            let (values, inverse, counts) = x.unique_consecutive();
            Some(Ok(vec![part(values), part(inverse), part(counts)]))
        }
        _ => None,
    }
}

fn masking<E: Token + Dtype>(row: &Row) -> Option<Answers> {
    let x = row.x::<E>();
    match row.op {
        "masked_select" => one(x.try_masked_select(row.operand::<bool>(0))),
        "masked_fill" => {
            let mut in_place = x.clone();
            in_place.masked_fill_(row.operand::<bool>(0), 3);
            let result = x.masked_fill(row.operand::<bool>(0), 3);
            assert!(result.iter().map(|x| x.bits()).eq(in_place.iter().map(|x| x.bits())));
            one(Ok(result))
        }
        "masked_scatter" => one(x.try_masked_scatter(row.operand::<bool>(0), row.operand::<E>(1))),
        _ => None,
    }
}

fn ordering<E: Token + Ordered, const I: isize>(row: &Row) -> Option<Answers>
where
    (Dyn, Dyn): castiron::shape::HasAxis<I, Replace<Dyn> = (Dyn, Dyn), Removed = (Dyn,)>,
{
    let (x, along) = (row.x::<E>(), Axis::<I>);
    match row.op {
        "sort" => two(x.try_sort(along, row.flag(1))),
        "mode" => values::<E, _, I>(&x, x.try_mode(along)),
        "unique" => {
            let (values, inverse, counts) = x.unique();
            Some(Ok(vec![part(values), part(inverse), part(counts)]))
        }
        "scatter_reduce" => {
            let reduce = match row.parameters[1].as_str().unwrap() {
                "sum" => ScatterReduce::Sum,
                "prod" => ScatterReduce::Prod,
                "mean" => ScatterReduce::Mean,
                "amax" => ScatterReduce::Amax,
                _ => ScatterReduce::Amin,
            };
            one(x.try_scatter_reduce(along, row.operand::<i64>(0), row.operand::<E>(1), reduce, row.flag(2)))
        }
        _ => None,
    }
}

fn counting<E: Token + Real, const I: isize>(row: &Row) -> Option<Answers>
where
    (Dyn, Dyn): castiron::shape::HasAxis<I, Replace<Dyn> = (Dyn, Dyn), Removed = (Dyn,)>,
{
    let (x, along) = (row.x::<E>(), Axis::<I>);
    match row.op {
        "topk" => values::<E, _, I>(&x, x.try_topk_sized(along, row.number(0), row.flag(2))),
        "kthvalue" => values::<E, _, I>(&x, x.try_kthvalue(along, row.number(0))),
        "median" => values::<E, _, I>(&x, x.try_median_axis(along)),
        "nanmedian" => values::<E, _, I>(&x, x.try_nanmedian_axis(along)),
        "median_all" => one(x.try_median()),
        "nanmedian_all" => one(x.try_nanmedian()),
        "isin" => one(x.try_isin(row.operand::<E>(0))),
        "searchsorted" => one(x.try_searchsorted(row.operand::<E>(0), row.flag(0))),
        "bucketize" => one(x.try_bucketize(row.list::<E>(0), row.flag(0))),
        _ => None,
    }
}

fn between<E: Token + WideFloatFor<quantile> + WideFloatFor<nanquantile>, const I: isize>(row: &Row) -> Option<Answers>
where
    (Dyn, Dyn): castiron::shape::HasAxis<I, Removed = (Dyn,)>,
{
    let (x, q) = (row.x::<E>(), row.parameters[1].as_f64()?);
    let how = match row.parameters[2].as_str()? {
        "linear" => Interpolation::Linear,
        "lower" => Interpolation::Lower,
        "higher" => Interpolation::Higher,
        "midpoint" => Interpolation::Midpoint,
        _ => Interpolation::Nearest,
    };
    match row.op {
        "quantile" => one(x.try_quantile_axis(Axis::<I>, q, how)),
        _ => one(x.try_nanquantile_axis(Axis::<I>, q, how)),
    }
}

fn run<const I: isize>(dtype: &str, row: &Row) -> Option<Answers>
where
    (Dyn, Dyn): castiron::shape::HasAxis<I, Replace<Dyn> = (Dyn, Dyn), Removed = (Dyn,)>,
    (Dyn, Dyn): castiron::shape::Broadcast<<(Dyn, Dyn) as castiron::shape::HasAxis<I>>::Kept, Output = (Dyn, Dyn)>,
{
    if row.op == "one_hot" {
        return one(row.x::<i64>().try_one_hot_sized(row.number(0)));
    }
    macro_rules! real {
        ($E:ty) => {
            moving::<$E, I>(row)
                .or_else(|| masking::<$E>(row))
                .or_else(|| ordering::<$E, I>(row))
                .or_else(|| counting::<$E, I>(row))
        };
    }
    match dtype {
        "bool" => moving::<bool, I>(row).or_else(|| masking::<bool>(row)).or_else(|| ordering::<bool, I>(row)),
        "c64" => moving::<Complex<f32>, I>(row).or_else(|| masking::<Complex<f32>>(row)),
        "u8" => real!(u8),
        "i64" => real!(i64),
        "bf16" => real!(bf16),
        "f32" => real!(f32).or_else(|| between::<f32, I>(row)),
        "f64" => real!(f64).or_else(|| between::<f64, I>(row)),
        _ => None,
    }
}

#[test]
fn every_row_is_pytorchs() {
    let table = json("choosing.json");
    let mut tally = Tally::default();
    for entry in table["rows"].as_array().unwrap() {
        let text = |at: usize| entry[at].as_str().unwrap();
        let sizes = sizes_of(&entry[3]);
        let row = Row {
            op: text(0),
            layout: text(2),
            sizes: [sizes[0], sizes[1]],
            tokens: text(4),
            parameters: &entry[5],
            extra: &entry[6],
        };
        // The axis comes first, or after the number of elements chosen.
        let at = usize::from(row.op == "topk" || row.op == "kthvalue");
        let second = row.parameters.get(at).and_then(Value::as_u64) == Some(1);
        let answers = if second { run::<1>(text(1), &row) } else { run::<0>(text(1), &row) };
        let what = format!("{} {} {} {sizes:?} {}", row.op, text(1), row.layout, row.parameters);
        // What lies between two elements is rounded on the way, and PyTorch rounds some products of bf16 once.
        let tolerance = match row.op {
            "quantile" | "nanquantile" => Tolerance { ulps: 2.0, of_one: 2.0 },
            "scatter_reduce" if text(1) == "bf16" => Tolerance { ulps: 2.0, of_one: 0.0 },
            _ => Tolerance { ulps: 0.0, of_one: 0.0 },
        };
        let wanted = entry[7].as_array().unwrap();
        let none = sizes.contains(&0);
        match answers {
            None if none && text(1) == "bool" => tally.set_aside("of no elements PyTorch admits any dtype"),
            Some(Err(Error::EmptyReduction { .. })) if none => tally.set_aside("no integer is the median of none"),
            None => tally.disagree.push(format!("{what}: refused")),
            Some(Err(error)) => tally.disagree.push(format!("{what}: {error}")),
            Some(Ok(answers)) => {
                // Where PyTorch gave values and indices and only values are compared, there are fewer answers.
                for ((sizes, answer), want) in answers.iter().zip(wanted) {
                    if *sizes != sizes_of(&want[1]) {
                        tally.disagree.push(format!("{what}: sizes {sizes:?}, PyTorch {}", want[1]));
                    }
                    tally.row(
                        &what,
                        answer,
                        want[0].as_str().unwrap(),
                        want[2].as_str().unwrap(),
                        &Value::Null,
                        tolerance,
                    );
                }
            }
        }
    }
    tally.finish("choosing");
}

#[test]
fn known_sizes_stay_in_the_type() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let _: Tensor<f32, shape![2, 5, 4]> = x.index_select(axis![1], Tensor::<i64, shape![5]>::zeros());
    let _: Tensor<f32, shape![2, 3, _]> = x.index_select(axis![-1], Tensor::<i32, shape![_]>::zeros_sized([2]));
    let _: Tensor<f32, shape![2, 1, 4]> = x.index_select(axis![1], Tensor::<i64, ()>::zeros());
    let _: Tensor<f32, shape![2, 3, 1]> = x.gather(axis![2], Tensor::<i64, shape![2, 3, 1]>::zeros());
    let _: Tensor<f32, shape![2, 1, 4]> = x.take_along_dim(Tensor::<i64, shape![1, 1, 4]>::zeros(), axis![1]);
    let _: Tensor<f32, shape![7]> = x.take(Tensor::<i64, shape![7]>::zeros());
    let (values, indices) = x.topk::<dim!(2), _>(axis![1], true);
    let _: (Tensor<f32, shape![2, 2, 4]>, Tensor<i64, shape![2, 2, 4]>) = (values, indices);
    let _: Tensor<i64, shape![2, _, 4]> = x.topk_sized(axis![1], 2, true).1;
    let _: Tensor<f32, shape![2, 4]> = x.median_axis(axis![1]).0;
    let _: Tensor<i64, shape![2, 1, 4]> = x.mode(axis![1].keepdim()).1;
    let _: Tensor<i64, shape![_, 3]> = x.nonzero();
    let _: Tensor<f32, shape![_]> = x.masked_select(x.gt(0));
    let _: Tensor<f32, shape![2, 3, 4]> = x.masked_fill(Tensor::<bool, shape![4]>::ones(), 0);
    let _: Tensor<i64, shape![2, 10]> = tensor![3, 1].one_hot::<dim!(10)>();
    let _: Tensor<f32, shape![5, 2, 4]> =
        Tensor::<f32, shape![9, 4]>::zeros().embedding(Tensor::<i64, shape![5, 2]>::zeros());
    let (_, inverse, _) = x.unique();
    let _: Tensor<i64, shape![2, 3, 4]> = inverse;
}

#[test]
fn zero_dim_tensors_count_as_one_element() {
    let x: Tensor<f32, ()> = Tensor::scalar(5.0);
    let first = Tensor::<i64, ()>::zeros();
    assert_eq!(x.index_select(axis![0], tensor![0]).item(), 5.0);
    assert!(x.try_index_select(axis![0], tensor![0, 0]).is_err());
    assert_eq!(x.gather(axis![-1], &first).item(), 5.0);
    assert_eq!(x.scatter(axis![0], &first, Tensor::<f32, ()>::scalar(2.0)).item(), 2.0);
    assert_eq!(x.sort(axis![0], true).1.item(), 0);
    assert_eq!(x.topk_sized(axis![0], 0, true).0.item(), 5.0);
    assert_eq!((x.median().item(), x.kthvalue(axis![0], 1).0.item()), (5.0, 5.0));
    assert_eq!(x.nonzero().shape(), [1, 0]);
    assert_eq!(Tensor::<f32, ()>::zeros().argwhere().shape(), [0, 0]);
    assert_eq!(x.masked_select(Tensor::<bool, ()>::ones()).to_vec(), [5.0]);
    assert_eq!(x.unique().0.to_vec(), [5.0]);
    assert_eq!(tensor![1.0, 9.0].searchsorted(&x, false).item(), 1);
    assert_eq!(tensor![4, 5].take(&first).item(), 4);
}

#[test]
fn indices_out_of_range_are_told() {
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    let text = |result: castiron::Result<Tensor<i64, shape![2, 2]>>| result.unwrap_err().to_string();
    assert_eq!(
        text(x.try_index_select(axis![1], tensor![0, 3])),
        "index_select: index 3 is out of range for axis 1 of size 3"
    );
    assert_eq!(
        text(x.try_index_select(axis![1], tensor![-1, 0])),
        "index_select: index -1 is out of range for axis 1 of size 3"
    );
    assert_eq!(
        text(x.try_gather(axis![1], tensor![[0, 1], [2, -1]])),
        "gather: index -1 is out of range for axis 1 of size 3"
    );
    assert!(x.try_index_select(axis![0], tensor![-1, 0]).is_err());
    assert!(x.try_index_select(axis![0], tensor![0, 1, 0, 1, 0, 1, 0, i64::MIN, i64::MAX]).is_err());
    assert!(tensor![[0.0, 1.0], [2.0, 3.0]].try_embedding(tensor![[-1]]).is_err());
    let error = x.try_take(tensor![6]).unwrap_err();
    assert!(matches!(error, Error::IndexValue { op: "take", index: 6, axis: 0, size: 6, .. }), "{error:?}");
    assert!(
        x.try_take(tensor![-7]).is_err() && x.try_take(tensor![i64::MIN]).is_err() && x.try_take(tensor![-6]).is_ok()
    );
    let mut written = x.clone();
    assert!(written.try_scatter_(axis![1], tensor![[0, 5]], tensor![[9, 9]]).is_err());
    assert!(written.try_index_fill_(axis![0], tensor![1, -3], 0).is_err());
    assert_eq!(written.to_vec(), x.to_vec(), "nothing is written");
    assert!(tensor![[0.0], [1.0]].try_embedding(tensor![2]).is_err());
    assert_eq!(
        tensor![0, 3].try_one_hot::<dim!(3)>().unwrap_err().to_string(),
        "one_hot: index 3 is out of range for axis 1 of size 3"
    );
    let empty = Tensor::<i64, shape![0, 3]>::zeros();
    assert!(empty.try_index_select(axis![0], tensor![0]).is_err());
    assert!(empty.try_gather(axis![0], tensor![[0, 0, 0]]).is_err());
}

#[test]
fn wrong_sizes_and_numbers_are_told() {
    let x: Tensor<i64, shape![_, _]> = Tensor::ones_sized([2, 3]);
    assert!(x.try_gather(axis![1], Tensor::<i64, shape![3, 1]>::zeros()).is_err());
    assert!(x.try_scatter(axis![0], tensor![[0, 1]], Tensor::<i64, shape![_, _]>::ones_sized([1, 1])).is_err());
    assert!(x.try_index_copy(axis![0], tensor![0, 1], Tensor::<i64, shape![_, _]>::ones_sized([1, 3])).is_err());
    assert!(x.try_masked_scatter(x.gt(0), tensor![1, 2]).is_err());
    assert!(x.try_masked_fill(x.gt(0), i128_too_large()).is_err());
    assert_eq!(
        x.try_topk_sized(axis![1], 4, true).unwrap_err().to_string(),
        "topk: k is 4, but goes from 0 to 3, the size of axis 1"
    );
    assert_eq!(
        x.try_kthvalue(axis![0], 0).unwrap_err().to_string(),
        "kthvalue: k is 0, but goes from 1 to 2, the size of axis 0"
    );
    let empty: Tensor<f32, shape![_]> = Tensor::zeros_sized([0]);
    assert!(matches!(empty.try_median_axis(axis![0]), Err(Error::EmptyReduction { op: "median", .. })));
    assert!(empty.median().item().is_nan());
    assert!(matches!(Tensor::<i64, shape![0]>::zeros().try_median(), Err(Error::EmptyReduction { .. })));
    let sorted: Tensor<f32, shape![_, 2]> = Tensor::zeros_sized([2, 2]);
    assert!(sorted.try_searchsorted(Tensor::<f32, shape![_, 1]>::zeros_sized([3, 1]), false).is_err());
}
fn i128_too_large() -> u64 {
    u64::MAX
}

/// Long lanes are sorted in another way than short ones.
#[test]
fn long_lanes_are_sorted_as_short_ones_are() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    macro_rules! check {
        ($($E:ty: $make:expr;)*) => {$(
            let elements: Vec<$E> = (0..5000).map(|_| { let make: fn(u64) -> $E = $make; make(next()) }).collect();
            let x = Tensor::<$E, shape![_]>::from(elements.clone());
            for descending in [false, true] {
                let mut order: Vec<usize> = (0..elements.len()).collect();
                order.sort_by(|&a, &b| {
                    // NaN is larger than every number.
                    let (a, b) = (elements[a], elements[b]);
                    let order = a.partial_cmp(&b).unwrap_or_else(|| (a != a).cmp(&(b != b)));
                    if descending { order.reverse() } else { order }
                });
                let (values, indices) = x.sort(axis![0], descending);
                assert!(indices.iter().zip(&order).all(|(&index, &at)| index as usize == at));
                assert!(values.iter().zip(&order).all(|(value, &at)| value.bits() == elements[at].bits()));
                // Few are kept in order, of many candidates are collected; the lane may have steps.
                let spread = Tensor::<$E, shape![_, 2]>::from_fn_sized([elements.len(), 2], |[i, _]| elements[i]);
                for k in [1, 3, 16, 17, 100] {
                    let stepped = spread.select(axis![1], 1).topk_sized(axis![0], k, descending);
                    for (best, places) in [x.topk_sized(axis![0], k, descending), stepped] {
                        assert_eq!(places.numel(), k);
                        assert!(places.iter().zip(&order).all(|(&index, &at)| index as usize == at));
                        assert!(best.iter().zip(&order).all(|(value, &at)| value.bits() == elements[at].bits()));
                    }
                }
            }
        )*};
    }
    check! {
        f32: |bits| match bits % 50 { 0 => f32::NAN, 1 => -0.0, 2 => 0.0, 3 => f32::INFINITY, _ => bits as i32 as f32 - 1e9 };
        f64: |bits| match bits % 50 { 0 => f64::NAN, 1 => -0.0, 2 => 0.0, _ => (bits as f64).sin() };
        bf16: |bits| bf16::from_f32(bits as f32 / 1e7 - 100.0);
        i64: |bits| bits as i64 - (1 << 30);
        i32: |bits| bits as i32;
        i16: |bits| bits as i16;
        i8: |bits| bits as i8;
        u8: |bits| bits as u8;
    }
    let flags = Tensor::<bool, shape![_]>::from_iter((0..5000).map(|_| next() % 2 == 1));
    let falses = flags.to_vec().iter().filter(|&&flag| !flag).count();
    let (sorted, places) = flags.sort(axis![0], false);
    assert!(sorted.iter().enumerate().all(|(at, &flag)| flag == (at >= falses)));
    assert!(places.to_vec().chunk_by(|a, b| a < b).map(<[i64]>::len).eq([falses, 5000 - falses]));
}

/// A list of indices that chooses from an operand that lies across the result: along each axis, of sizes that fill no whole part.
#[test]
fn lists_choose_from_views_as_from_copies() {
    let x = Tensor::<i32, shape![_, _, _]>::from_fn_sized([67, 5, 131], |[i, j, k]| (i * 10_000 + j * 1000 + k) as i32);
    let list = |size: i64| Tensor::<i64, shape![_]>::from_iter((0..77).map(|at| at * 31 % size));
    macro_rules! check {
        ($($view:expr),*) => {$(
            let (view, copy) = ($view, $view.contiguous());
            let sizes = view.shape();
            let [a, b, c] = sizes.map(|size| list(size as i64));
            assert!(view.index_select(axis![0], &a).iter().eq(copy.index_select(axis![0], &a).iter()));
            assert!(view.index_select(axis![1], &b).iter().eq(copy.index_select(axis![1], &b).iter()));
            assert!(view.index_select(axis![2], &c).iter().eq(copy.index_select(axis![2], &c).iter()));
            for (axis, error) in [
                view.try_index_select(axis![0], tensor![0, 1000]).unwrap_err(),
                view.try_index_select(axis![1], tensor![0, 1000]).unwrap_err(),
                view.try_index_select(axis![2], tensor![0, 1000]).unwrap_err(),
            ]
            .into_iter()
            .enumerate()
            {
                let Error::IndexValue { op: "index_select", index: 1000, axis: a, size, .. } = error else { panic!("{error:?}") };
                assert_eq!((a, size), (axis, sizes[axis]));
            }
        )*};
    }
    check!(x.permute(axis![2, 1, 0]), x.permute(axis![1, 2, 0]), x.permute(axis![0, 2, 1]), x.permute(axis![2, 0, 1]));
    let narrow = x.narrow(axis![2], 1, 40);
    check!(narrow.permute(axis![2, 1, 0]), narrow.permute(axis![1, 2, 0]));
}

/// One index out of range is told wherever it stands: in short rows, which are checked some at once, in long ones, in views and lists.
#[test]
fn one_index_out_of_range_is_found_anywhere() {
    for (rows, len) in [(5, 7), (3, 64), (2, 130), (40, 3)] {
        let x = Tensor::<i32, shape![_, 9]>::from_fn_sized([rows, 9], |[i, j]| (i * 9 + j) as i32);
        for at in 0..rows * len {
            let make = |bad: usize, [i, j]: [usize; 2]| if i * len + j == bad { 9 } else { ((i + j) % 9) as i64 };
            let index = Tensor::<i64, shape![_, _]>::from_fn_sized([rows, len], |place| make(at, place));
            let across = index.t().contiguous();
            for index in [index.clone(), across.t()] {
                let error = x.try_gather(axis![1], index).unwrap_err();
                assert!(
                    matches!(error, Error::IndexValue { op: "gather", index: 9, axis: 1, size: 9, .. }),
                    "{error:?}"
                );
            }
        }
        let fine = Tensor::<i64, shape![_, _]>::from_fn_sized([rows, len], |[i, j]| ((i + j) % 9) as i64);
        let wanted = (0..rows * len).map(|at| (at / len * 9 + (at / len + at % len) % 9) as i32);
        assert!(x.gather(axis![1], &fine).iter().eq(wanted.clone().collect::<Vec<_>>().iter()));
        assert!(x.gather(axis![1], fine.t().contiguous().t()).iter().eq(wanted.collect::<Vec<_>>().iter()));
    }
}

/// Rows and lanes that are written to are combined one after the other, whatever their lengths.
#[test]
fn rows_are_added_where_indices_say() {
    macro_rules! check {
        ($($E:ty, $C:ty: $make:expr;)*) => {$(
            for len in [0, 1, 7, 63, 64, 65, 200] {
                let make: fn(usize) -> $E = $make;
                let from = Tensor::<$E, shape![_, _]>::from_fn_sized([9, len], |[i, j]| make(i * 7 + j));
                let to = Tensor::<$E, shape![_, _]>::from_fn_sized([5, len], |[i, j]| make(i + j));
                let index = Tensor::<i64, shape![_]>::from_iter((0..9).map(|at| at * 3 % 5));
                let mut rows: Vec<One<$C>> = (0..5).map(|i| to.select(axis![0], i).to()).collect();
                for (i, &row) in index.iter().enumerate() {
                    let from: One<$C> = from.select(axis![0], i).to();
                    rows[row as usize] = rows[row as usize].add(from);
                }
                // Rounded once.
                let rows: Vec<Vec<$E>> = rows.iter().map(|row| row.to().to_vec()).collect();
                let by_rows = to.index_add(axis![0], &index, &from, 1);
                assert!(by_rows.iter().zip(rows.concat()).all(|(got, wanted)| got.bits() == wanted.bits()));
                let by_columns = to.t().index_add(axis![1], &index, from.t(), 1);
                assert!(by_columns.t().iter().zip(rows.concat()).all(|(got, wanted)| got.bits() == wanted.bits()));
                let wide: Tensor<i64, shape![_, _]> = index.unsqueeze(axis![1]).expand_sized([9, len]).contiguous();
                let each = to.scatter_add(axis![0], &wide, &from);
                assert!(each.iter().zip(rows.concat()).all(|(got, wanted)| got.bits() == wanted.bits()));
                let lanes = to.t().contiguous().scatter_add(axis![1], wide.t().contiguous(), from.t().contiguous());
                assert!(lanes.t().iter().zip(rows.concat()).all(|(got, wanted)| got.bits() == wanted.bits()));
            }
        )*};
    }
    check! {
        bf16, f32: |at| bf16::from_f32(if at == 11 { f32::NAN } else { at as f32 / 3.0 });
        f32, f32: |at| at as f32 / 3.0;
        i64, i64: |at| at as i64 - 20;
        u8, u8: |at| (at * 37) as u8;
        Complex<f32>, Complex<f32>: |at| Complex::new(at as f32 / 3.0, -(at as f32));
    }
}

/// Half-precision values for one position are added, multiplied and counted in `f32` and rounded once, by every operation, whether the
/// tensor written to is small or has many more elements than there are indices.
#[test]
fn halves_that_meet_are_rounded_once() {
    macro_rules! check {
        ($E:ident, $last:expr) => {{
            type Rows = Tensor<$E, shape![_, _]>;
            let (many, of) = (5000, $E::from_f64);
            let list = Tensor::<i64, shape![_]>::from_iter((0..many as i64).map(|at| at % 2));
            let wide: Tensor<i64, shape![_, _]> = list.unsqueeze(axis![1]).expand_sized([many, 2]).contiguous();
            let ones = Rows::ones_sized([many, 2]);
            for rows in [2, 16 * many + 17] {
                let zeros = Rows::zeros_sized([rows, 2]);
                let written = |mut x: Rows| {
                    x.index_put_([&(&list - 2_i64)], &ones, true);
                    x
                };
                let sums = [
                    zeros.scatter_add(axis![0], &wide, &ones),
                    zeros.scatter_reduce(axis![0], &wide, &ones, ScatterReduce::Sum, false),
                    zeros.index_add(axis![0], &list, &ones, 1),
                    zeros.t().index_add(axis![1], &list, ones.t(), 1).t(),
                    written(zeros.clone()).narrow(axis![0], rows - 2, 2),
                    Tensor::sparse_coo_sized(&list.unsqueeze(axis![0]), &ones, [rows, 2]).to_dense(),
                ];
                for (at, sums) in sums.into_iter().enumerate() {
                    let sums = sums.to_vec();
                    assert_eq!(sums[..4], [of(2500.0); 4], "operation {at}, {rows} rows");
                    assert!(sums[4..].iter().all(|&rest| rest == of(0.0)), "operation {at}, {rows} rows");
                }
                let thirds = Rows::from_fn_sized([many, 2], |[at, _]| of(f64::from(u8::from(at % 3 != 0))));
                let mean = zeros.scatter_reduce(axis![0], &wide, &thirds, ScatterReduce::Mean, true)[[0, 0]];
                assert_eq!(mean, of(1666.0 / 2501.0));
                let factors = Rows::from_fn_sized([100, 2], |_| of(1.0 + $last));
                let index = wide.narrow(axis![0], 0, 100);
                let product = zeros.scatter_reduce(axis![0], &index, &factors, ScatterReduce::Prod, false)[[0, 0]];
                assert_eq!(product, of((1.0_f64 + $last).powi(50)));
            }
        }};
    }
    check!(f16, 1.0 / 1024.0);
    check!(bf16, 1.0 / 128.0);
}

/// Work that is shared between threads gives what one thread gives.
#[test]
fn large_tensors_are_chosen_from_as_small_ones_are() {
    let (rows, columns) = (700, 900);
    let x = Tensor::<i64, shape![_, _]>::from_fn_sized([rows, columns], |[i, j]| (i * columns + j) as i64);
    let index =
        Tensor::<i64, shape![_, _]>::from_fn_sized([rows, columns], |[i, j]| ((i * 31 + j * 17) % columns) as i64);
    let gathered = x.gather(axis![1], &index);
    assert!(
        gathered
            .iter()
            .zip(index.iter())
            .enumerate()
            .all(|(at, (&got, &to))| got == (at / columns * columns) as i64 + to)
    );
    let order = Tensor::<i64, shape![_]>::from_iter((0..columns as i64).rev());
    let turned = x.index_select(axis![1], &order);
    assert!(
        turned.iter().enumerate().all(|(at, &got)| got == (at / columns * columns + columns - 1 - at % columns) as i64)
    );
    assert!(x.t().index_select(axis![0], &order).iter().eq(turned.t().iter()));
    let rest: Tensor<i64, shape![_, _]> = x.remainder(2);
    let even = rest.eq(0);
    assert!(x.masked_select(&even).iter().enumerate().all(|(at, &got)| got == 2 * at as i64));
    assert!(x.t().masked_select(even.t()).iter().eq(x.t().iter().filter(|&&element| element % 2 == 0)));
    let counts =
        Tensor::<i64, shape![_, _]>::zeros_sized([rows, columns]).scatter_add(axis![1], &index, &x.ones_like());
    assert_eq!(counts.sum().item(), (rows * columns) as i64);
    assert!(
        x.sort(axis![0], true)
            .0
            .iter()
            .zip(x.sort(axis![0], false).0.iter())
            .all(|(a, b)| a / columns as i64 + b / columns as i64 == rows as i64 - 1)
    );
    assert_eq!(even.nonzero().shape(), [rows * columns / 2, 2]);
}

#[test]
fn tensors_without_data_have_sizes() {
    let x: Tensor<f32, shape![_, 4], Meta> = Tensor::zeros_sized([3, 4]);
    let index: Tensor<i64, shape![2], Meta> = Tensor::zeros();
    assert_eq!(x.index_select(axis![0], &index).shape(), [2, 4]);
    assert_eq!(x.sort(axis![1], true).0.shape(), [3, 4]);
    assert_eq!(x.topk_sized(axis![1], 2, true).1.shape(), [3, 2]);
    assert_eq!(x.scatter_value(axis![0], Tensor::<i64, shape![1, 4], Meta>::zeros(), 1).shape(), [3, 4]);
    assert_eq!(x.masked_scatter(x.gt(0), &x).shape(), [3, 4]);
    assert_eq!(x.isin(&x).shape(), [3, 4]);
    assert!(matches!(x.try_masked_select(x.gt(0)), Err(Error::NoData { .. })));
    assert!(matches!(x.try_nonzero(), Err(Error::NoData { op: "nonzero", .. })));
    assert!(matches!(x.try_unique(), Err(Error::NoData { op: "unique", .. })));
}

#[test]
fn writing_leaves_other_tensors_alone() {
    let x = tensor![1, 2, 3];
    let mut written = x.clone();
    written.index_fill_(axis![0], tensor![-1], 7).scatter_add_(axis![0], tensor![0], tensor![1]);
    assert_eq!((x.to_vec(), written.to_vec()), (vec![1, 2, 3], vec![2, 2, 7]));
    // A tensor may be written into itself.
    written.scatter_(axis![0], tensor![2, 1, 0], &written.clone());
    assert_eq!(written.to_vec(), [7, 2, 2]);
    assert_eq!(tensor![0, 0, 0; u8].masked_fill(tensor![true, false, true], -1).to_vec(), [255, 0, 255]);
    assert!(tensor![0; u8].try_masked_fill(tensor![true], 300).is_err());
    assert_eq!(tensor![0, 0].masked_fill(tensor![true, false], 2.7).to_vec(), [2, 0]);
}

#[test]
fn numbers_that_are_none() {
    let nan = f32::NAN;
    let (values, inverse, counts) = tensor![nan, 1.0, nan, -0.0, 0.0, 2.0].unique();
    assert_eq!((inverse.to_vec(), counts.to_vec()), (vec![3, 1, 4, 0, 0, 2], vec![2, 1, 1, 1, 1]));
    assert!(values[0].is_sign_negative() && values[3].is_nan());
    assert_eq!(tensor![1.0, nan, nan].searchsorted(tensor![0.5, nan], false).to_vec(), [3, 3]);
    assert_eq!(tensor![1.0, 2.0, nan].isin(tensor![1.0, nan]).to_vec(), [true, false, false]);
    assert_eq!(tensor![3.0, nan, 1.0, 3.0, 2.0, nan, nan].mode(axis![0]).0.item(), 3.0);
    assert_eq!(tensor![3.0, nan, 1.0].median_axis(axis![0]).1.item(), 1);
}

/// Generic code states the set of dtypes and nothing else.
#[test]
fn generic_code_needs_no_bounds() {
    fn ranks<E: Ordered, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<i64, S, D> {
        x.argsort(axis![-1], false).argsort(axis![-1], false)
    }
    fn through<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, order: &Tensor<i64, S, D>) -> Tensor<E, S, D> {
        x.gather(axis![-1], order).scatter(axis![-1], order, x).scatter_add(axis![-1], order, x)
    }
    fn middle<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> (Tensor<E, (), D>, Tensor<bool, S, D>) {
        (x.median(), x.isin(x.median()))
    }
    fn filled<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, mask: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
        let _: Tensor<E, (Dyn,), D> = x.masked_select(mask);
        x.masked_fill(mask, 0)
    }
    let x = tensor![[0.5, -1.0, 2.0], [3.0, 1.0, 2.0]];
    assert_eq!(ranks(&x).to_vec(), [1, 0, 2, 2, 0, 1]);
    assert_eq!(through(&x, &ranks(&x)).to_vec(), [-2.0, 1.0, 4.0, 2.0, 4.0, 6.0]);
    assert_eq!(middle(&x).0.item(), 1.0);
    assert_eq!(filled(&x, &x.gt(1)).sum().item(), 0.5);
}
