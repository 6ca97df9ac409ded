//! Sizes, strides and offsets of views, and which views are refused, compared with PyTorch's table.

use crate::common::json;
use castiron::{Complex, Element, Result, Shape, Tensor, f16, s, shape};
use serde_json::Value;

/// Sizes, strides and offset.
type Layout = (Vec<usize>, Vec<usize>, usize);

fn list(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|size| Some(size.as_u64()? as usize)).collect()
}

/// Runs for a shape with this many run-time sizes, called `$shape`.
macro_rules! of_rank {
    ($rank:expr, |$shape:ident| $body:expr) => {
        match $rank {
            0 => { type $shape = shape![]; $body }
            _ => of_rank!(@ $rank, |$shape| $body),
        }
    };
    (@ $rank:expr, |$shape:ident| $body:expr) => {
        match $rank {
            1 => { type $shape = shape![_]; $body }
            2 => { type $shape = shape![_, _]; $body }
            3 => { type $shape = shape![_, _, _]; $body }
            4 => { type $shape = shape![_, _, _, _]; $body }
            5 => { type $shape = shape![_, _, _, _, _]; $body }
            rank => panic!("rank {rank}"),
        }
    };
}

fn sizes<const N: usize>(list: &[usize]) -> [usize; N] {
    list.try_into().unwrap()
}

/// A tensor of the layout of a row.
fn input<E: Element, S: Shape<Sizes = [usize; N]>, const N: usize>(row: &Value) -> Tensor<E, S> {
    let (shape, stride, offset) = (list(&row[1]).unwrap(), list(&row[2]).unwrap(), row[3].as_u64().unwrap() as usize);
    let span: usize = shape.iter().zip(&stride).map(|(size, stride)| size.saturating_sub(1) * stride).sum();
    let len = if shape.contains(&0) { offset } else { offset + span + 1 };
    let storage: Tensor<E, shape![_]> = Tensor::from_vec_sized(vec![E::default(); len], [len]);
    storage.as_strided_sized(sizes(&shape), sizes(&stride), Some(offset))
}

fn layout<E: Element, S: Shape>(view: Result<Tensor<E, S>>) -> Option<Layout> {
    let view = view.ok()?;
    Some((view.shape().as_ref().to_vec(), view.stride().as_ref().to_vec(), view.storage_offset()))
}

/// Goes through the rows of an operation on elements of a dtype; `view` gives `None` for those it leaves out.
fn compare(op: &str, dtype: Option<&str>, view: impl Fn(&Value, &[Value]) -> Option<Option<Layout>>) {
    let table = json("views.json");
    let (mut compared, mut refused) = (0, 0);
    for row in table["rows"].as_array().unwrap() {
        if row[4] != op || dtype.is_some_and(|dtype| row[0] != dtype) {
            continue;
        }
        let want = row[6].as_array().map(|results| {
            let result = &results[0];
            (list(&result[1]).unwrap(), list(&result[2]).unwrap(), result[3].as_u64().unwrap() as usize)
        });
        let Some(got) = view(row, row[5].as_array().unwrap()) else { continue };
        assert_eq!(got, want, "{row}");
        compared += 1;
        refused += usize::from(want.is_none());
    }
    assert!(compared > 0, "{op}");
    println!("{op}: {compared} rows, {refused} of them refused");
}

#[test]
fn slices() {
    let bounds = |args: &[Value]| {
        (args[0].as_i64().unwrap_or(0), args[1].as_i64().unwrap_or(i64::MAX), args[2].as_i64().unwrap_or(1))
    };
    compare("slice0", Some("f32"), |row, args| {
        let (start, end, step) = bounds(args);
        let rank = list(&row[1])?.len();
        Some(of_rank!(@ rank, |S| layout(input::<f32, S, _>(row).try_slice(s![start..end;step]))))
    });
    compare("slice_last", Some("f32"), |row, args| {
        let (start, end, step) = bounds(args);
        let rank = list(&row[1])?.len();
        Some(of_rank!(@ rank, |S| layout(input::<f32, S, _>(row).try_slice(s![..., start..end;step]))))
    });
    compare("select", Some("f32"), |row, args| {
        let (axis, index) = (args[0].as_i64()?, args[1].as_i64()?);
        let rank = list(&row[1])?.len();
        match axis {
            0 if rank > 0 => Some(of_rank!(@ rank, |S| layout(input::<f32, S, _>(row).try_slice(s![index])))),
            -1 if rank > 0 => Some(of_rank!(@ rank, |S| layout(input::<f32, S, _>(row).try_slice(s![..., index])))),
            _ => None,
        }
    });
    compare("index", Some("f32"), |row, args| {
        let rank = list(&row[1])?.len();
        let text = args[0].as_str().map_or_else(|| args[0].to_string(), str::to_owned);
        macro_rules! items {
            ($($text:literal: $least:tt $items:tt;)*) => {
                match text.as_str() {
                    $($text => Some(items!(@ $least $items)),)*
                    _ => None,
                }
            };
            (@ 1 $items:tt) => { of_rank!(@ rank, |S| layout(input::<f32, S, _>(row).try_slice(s!$items))) };
            (@ 2 $items:tt) => {
                match rank {
                    2 => layout(input::<f32, shape![_, _], _>(row).try_slice(s!$items)),
                    3 => layout(input::<f32, shape![_, _, _], _>(row).try_slice(s!$items)),
                    4 => layout(input::<f32, shape![_, _, _, _], _>(row).try_slice(s!$items)),
                    // does not compile
                    _ => None,
                }
            };
        }
        if rank == 0 {
            return None;
        }
        items! {
            "0": 1 [0];
            "None": 1 [NewAxis];
            "...": 1 [...];
            "...,None": 1 [..., NewAxis];
            ":,0": 2 [.., 0];
            "1,::2": 2 [1, ::2];
            "0,None,1:": 2 [0, NewAxis, 1..];
        }
    });
}

#[test]
fn views_of_other_shapes() {
    compare("view", Some("f32"), |row, args| {
        // Sizes that follow from others, or are none, are not said by `view_sized`.
        let (from, to) =
            (list(&row[1])?, args.iter().map(|size| Some(size.as_u64()? as usize)).collect::<Option<Vec<_>>>()?);
        Some(of_rank!(from.len(), |S| {
            let x = input::<f32, S, _>(row);
            of_rank!(to.len(), |T| layout(x.try_view_sized::<T>(sizes(&to))))
        }))
    });
    compare("as_strided", Some("f32"), |row, args| {
        let (to, strides) = (list(&args[0])?, list(&args[1])?);
        let offset = if args[2].is_null() { None } else { Some(args[2].as_u64()? as usize) };
        if to.len() != strides.len() {
            return None;
        }
        let x = input::<f32, shape![_], _>(row);
        Some(of_rank!(to.len(), |T| layout(x.try_as_strided_sized::<T>(sizes(&to), sizes(&strides), offset))))
    });
}

#[test]
fn views_as_other_dtypes() {
    macro_rules! from {
        (@ $code:literal $from:ty, $([$to:ty, $to_code:literal])*) => {
            compare("view_dtype", Some($code), |row, args| {
                let rank = list(&row[1])?.len();
                match (rank, args[0].as_str()?) {
                    $(
                        (1, $to_code) => Some(layout(input::<$from, shape![_], _>(row).try_view_dtype::<$to>())),
                        (2, $to_code) => Some(layout(input::<$from, shape![_, _], _>(row).try_view_dtype::<$to>())),
                    )*
                    _ => None,
                }
            });
        };
        ($($from:ty = $code:literal;)*) => {$(
            from!(@ $code $from, [u8, "u8"] [bool, "bool"] [i16, "i16"] [f32, "f32"] [Complex<f32>, "c64"] [Complex<f64>, "c128"]);
        )*};
    }
    from! { u8 = "u8"; bool = "bool"; i16 = "i16"; f32 = "f32"; Complex<f32> = "c64"; Complex<f64> = "c128"; }
}

#[test]
fn complex_numbers_and_their_parts() {
    macro_rules! parts {
        ($($real:ty = $real_code:literal $code:literal;)*) => {$(
            compare("view_as_complex", Some($real_code), |row, _| {
                let rank = list(&row[1])?.len();
                if rank == 0 {
                    return None;
                }
                Some(of_rank!(@ rank, |S| layout(input::<$real, S, _>(row).try_view_as_complex())))
            });
            compare("view_as_real", Some($code), |row, _| {
                let rank = list(&row[1])?.len();
                Some(of_rank!(rank, |S| layout(input::<Complex<$real>, S, _>(row).try_view_as_real())))
            });
        )*};
    }
    parts! { f16 = "f16" "c32"; f32 = "f32" "c64"; f64 = "f64" "c128"; }
}
