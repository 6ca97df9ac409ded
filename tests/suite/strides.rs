//! When a reshape is a view, compared with PyTorch's table. (Layouts of results on every device:
//! `each_device/layouts.rs`; memory formats: `memory_format.rs`.)

use crate::common::json;
use castiron::layout::strides::{contiguous, reshape};
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

fn row_major<const N: usize>(sizes: &[usize]) -> Vec<usize> {
    contiguous(&array::<N>(sizes)).to_vec()
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
