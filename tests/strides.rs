//! How results are laid out in memory and when a reshape is a view, compared with PyTorch's tables.

mod common;

use castiron::shape::strides::{
    broadcast, contiguous, converted, elementwise_result, is_contiguous, is_dense, preserved, reshape,
};
use castiron::{Cpu, Device, Meta, Tensor, axis, shape};
use common::json;
use serde_json::Value;

fn list(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
}

/// Calls a function generic over the rank.
macro_rules! by_rank {
    ($rank:expr, $function:ident $args:tt) => {
        match $rank {
            0 => $function::<0> $args,
            1 => $function::<1> $args,
            2 => $function::<2> $args,
            3 => $function::<3> $args,
            4 => $function::<4> $args,
            5 => $function::<5> $args,
            6 => $function::<6> $args,
            rank => panic!("rank {rank}"),
        }
    };
}

fn array<const N: usize>(list: &[usize]) -> [usize; N] {
    list.try_into().expect("as many as the rank")
}

/// Sizes and strides of an operand, and whether it is converted first.
type Layout<'a> = (&'a [usize], &'a [usize], bool);

/// Strides of the elementwise result.
fn result<const N: usize>(sizes: &[usize], operands: &[Layout]) -> Vec<usize> {
    let sizes: [usize; N] = array(sizes);
    let layouts: Vec<[usize; N]> = operands
        .iter()
        .map(|&(from, strides, is_converted)| {
            if is_converted {
                return converted(from, strides, &sizes);
            }
            let mut broadcasted = [0; N];
            broadcast(from, strides, &sizes, &mut broadcasted);
            broadcasted
        })
        .collect();
    let alike = operands.iter().all(|&(from, _, _)| from == sizes);
    elementwise_result(&sizes, &layouts, alike).to_vec()
}
fn copy<const N: usize>(sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    preserved(&array::<N>(sizes), &array::<N>(strides)).to_vec()
}
fn row_major<const N: usize>(sizes: &[usize]) -> Vec<usize> {
    contiguous(&array::<N>(sizes)).to_vec()
}

#[test]
fn one_tensor() {
    let table = json("memory_format.json");
    let mut answers = 0;
    for case in table["cases"].as_array().unwrap() {
        let what = &case["d"];
        let (sizes, strides) = (list(&case["shape"]), list(&case["stride"]));
        assert_eq!(is_contiguous(&sizes, &strides), case["is_contiguous"][0] == 1, "{what}");
        assert_eq!(is_dense(&sizes, &strides), case["nonoverlap_dense"] == true, "{what}");
        if case["contiguous_is_self"] == 0 {
            assert_eq!(by_rank!(sizes.len(), row_major(&sizes)), list(&case["contiguous"][0]), "{what}");
        }
        let it = (&sizes[..], &strides[..], false);
        let elementwise = by_rank!(sizes.len(), result(&sizes, &[it]));
        let with_scalar = by_rank!(sizes.len(), result(&sizes, &[it, (&[], &[], false)]));
        let kept = by_rank!(sizes.len(), copy(&sizes, &strides));
        for (names, ours) in
            [(&["abs", "t+t"], &elementwise), (&["t+1", "t<1"], &with_scalar), (&["zeros_like", "to_f64"], &kept)]
        {
            for name in names {
                // (comparisons of a zero-dim tensor give a Python bool in the table)
                let Some(theirs) = case["default"].get(name).filter(|strides| strides.is_array()) else { continue };
                assert_eq!(*ours, list(theirs), "{name} of {what}");
                answers += 1;
            }
        }
    }
    println!("{answers} layouts agree");
    assert!(answers > 0);
}

#[test]
fn two_operands() {
    let table = json("memory_format.json");
    for row in table["binary"].as_array().unwrap() {
        let [a_sizes, a_strides, b_sizes, b_strides, sizes] = [2, 3, 4, 5, 6].map(|i| list(&row[i]));
        let (a, b) = ((&a_sizes[..], &a_strides[..], false), (&b_sizes[..], &b_strides[..], false));
        let sum_of = by_rank!(sizes.len(), result(&sizes, &[a, b]));
        // `a` is converted to the dtype of `b.to::<f64>()`
        let mixed = by_rank!(sizes.len(), result(&sizes, &[(a.0, a.1, true), (b.0, b.1, true)]));
        // where(a > 0, a, b)
        let mask = by_rank!(a_sizes.len(), result(&a_sizes, &[a, (&[], &[], false)]));
        let chosen = by_rank!(sizes.len(), result(&sizes, &[(a.0, &mask, false), a, b]));
        for (ours, column) in [(&sum_of, 7), (&sum_of, 8), (&mixed, 9), (&chosen, 10), (&sum_of, 11)] {
            assert_eq!(*ours, list(&row[column]), "column {column} of {row}");
        }
    }
}

fn reshaped<const N: usize>(sizes: &[usize], strides: &[usize], to: &[usize]) -> Option<Vec<usize>> {
    reshape(sizes, strides, &array::<N>(to)).map(|strides| strides.to_vec())
}

#[test]
fn reshapes() {
    let table = json("views.json");
    let (mut views, mut copies) = (0, 0);
    for row in table["rows"].as_array().unwrap() {
        let op = row[4].as_str().unwrap();
        if !["view", "reshape", "flatten"].contains(&op) || row[6].is_string() {
            continue;
        }
        let (sizes, strides, answer) = (list(&row[1]), list(&row[2]), &row[6][0]);
        let (to, result) = (list(&answer[1]), list(&answer[2]));
        let ours = by_rank!(to.len(), reshaped(&sizes, &strides, &to));
        let empty = sizes.contains(&0);
        if answer[4] == 1 || empty {
            assert_eq!(ours.as_ref(), Some(&result), "{row}");
            views += 1;
        } else {
            // a copy, which is contiguous
            assert_eq!(ours, None, "{row}");
            assert_eq!(by_rank!(to.len(), row_major(&to)), result, "{row}");
            copies += 1;
        }
    }
    println!("{views} views and {copies} copies agree");
    assert!(views > 0 && copies > 0);
}

fn typed_results<D: Device>() {
    type Image<D> = Tensor<f32, shape![2, 4, 5, 3], D>;
    let x = Image::<D>::try_zeros().unwrap().permute(axis![0, 3, 1, 2]);
    assert_eq!((x.shape(), x.stride()), ([2, 3, 4, 5], [60, 1, 15, 3]));
    let bias = Tensor::<f32, shape![1, 3, 1, 1], D>::try_zeros().unwrap();
    assert_eq!((&x + &bias).stride(), [60, 1, 15, 3]);
    assert_eq!((&bias + &x).stride(), [60, 1, 15, 3]);
    assert_eq!(x.exp().stride(), [60, 1, 15, 3]);
    assert_eq!(x.to::<f64>().stride(), [60, 1, 15, 3]);
    assert_eq!(x.sum_axis(axis![0]).stride(), [20, 5, 1]);
    assert_eq!((&x + 1.0).stride(), [60, 1, 15, 3]);
}

#[test]
fn results_on_the_cpu_and_without_data_are_laid_out_alike() {
    typed_results::<Cpu>();
    typed_results::<Meta>();
}
