//! Each operation with each dtype: what a rank gets, beside what one rank alone computes of what all have.

use crate::engine::Reduce::{self, And, Max, Min, Or, Product, Sum};
use crate::engine::{Line, Wire};
use crate::{Mesh, mesh};
use castiron::dtype::{Complex, bf16, f16};
use core::fmt::Debug;

mesh! { pub(super) Grid: Data, Model }

/// An element out of a small number, different for each, and exact in all dtypes.
trait Made: Wire + Debug {
    fn made(number: usize) -> Self;
    /// What one rank computes of two: PyTorch's rules, by hand.
    fn reduced(reduce: Reduce, all: &[Self]) -> Option<Self>;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Made for $ty {
            fn made(number: usize) -> Self {
                (number as $ty).wrapping_mul(37)
            }
            fn reduced(reduce: Reduce, all: &[Self]) -> Option<Self> {
                all.iter().copied().reduce(|a, b| match reduce {
                    Sum => a.wrapping_add(b),
                    Product => a.wrapping_mul(b),
                    Max => a.max(b),
                    Min => a.min(b),
                    And => a & b,
                    Or => a | b,
                })
            }
        }
    )*};
}
integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

impl Made for bool {
    fn made(number: usize) -> Self {
        number.is_multiple_of(3)
    }
    fn reduced(reduce: Reduce, all: &[Self]) -> Option<Self> {
        Some(match reduce {
            Sum | Max | Or => all.contains(&true),
            Product | Min | And => !all.contains(&false),
        })
    }
}

macro_rules! floats {
    ($($ty:ty, $wide:ty, $into:expr, $from:expr;)*) => {$(
        impl Made for $ty {
            fn made(number: usize) -> Self {
                // Small integers: sums are exact in any order. Now and then NaN, which a maximum keeps.
                $from(if number % 11 == 10 { <$wide>::NAN } else { (number % 7) as $wide - 3.0 })
            }
            fn reduced(reduce: Reduce, all: &[Self]) -> Option<Self> {
                let all: Vec<$wide> = all.iter().map(|x| $into(*x)).collect();
                let nan = all.iter().any(|x| x.is_nan());
                let result = match reduce {
                    And | Or => return None,
                    Sum => all.iter().sum(),
                    Product => all.iter().product(),
                    _ if nan => <$wide>::NAN,
                    Max => all.iter().copied().fold(<$wide>::NEG_INFINITY, <$wide>::max),
                    Min => all.iter().copied().fold(<$wide>::INFINITY, <$wide>::min),
                };
                Some($from(result))
            }
        }
    )*};
}
floats! {
    f32, f32, |x: f32| x, |x: f32| x;
    f64, f64, |x: f64| x, |x: f64| x;
    f16, f32, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::to_f32, bf16::from_f32;
}

macro_rules! complex {
    ($($part:ty, $wide:ty, $into:expr, $from:expr;)*) => {$(
        impl Made for Complex<$part> {
            fn made(number: usize) -> Self {
                let part = |number: usize| $from((number % 5) as $wide - 2.0);
                Complex::new(part(number), part(number / 2))
            }
            fn reduced(reduce: Reduce, all: &[Self]) -> Option<Self> {
                let all = all.iter().map(|x| Complex::new($into(x.re), $into(x.im)));
                let result: Complex<$wide> = match reduce {
                    Sum => all.sum(),
                    Product => all.product(),
                    _ => return None,
                };
                Some(Complex::new($from(result.re), $from(result.im)))
            }
        }
    )*};
}
complex! {
    f32, f32, |x: f32| x, |x: f32| x;
    f64, f64, |x: f64| x, |x: f64| x;
    f16, f32, f16::to_f32, f16::from_f32;
}

/// As text, in which NaN is NaN.
fn text<E: Debug>(elements: &[E]) -> String {
    format!("{elements:?}")
}

/// Element `place` of rank `rank`.
fn element<E: Made>(rank: usize, place: usize) -> E {
    E::made(rank * 5 + place * 3 + 1)
}
fn elements<E: Made>(rank: usize, len: usize) -> Vec<E> {
    (0..len).map(|place| element(rank, place)).collect()
}

fn reduced<E: Made>(line: Line, reduce: Reduce, place: usize) -> Option<E> {
    E::reduced(reduce, &(0..line.size).map(|rank| element(rank, place)).collect::<Vec<E>>())
}

fn check<E: Made>(mesh: &Mesh<Grid>, line: Line) -> crate::Result<()> {
    let Line { rank, size, .. } = line;
    // (Interpreters are slow.)
    for len in if cfg!(miri) { &[0, 3][..] } else { &[0, 1, 13, 257] } {
        let len = *len;
        for reduce in [Sum, Product, Max, Min, And, Or] {
            let mut all = elements::<E>(rank, len);
            let begun = mesh.begin_reduce(line, "all_reduce", all.clone(), reduce);
            if reduced::<E>(line, reduce, 0).is_none() {
                assert!(mesh.reduce_in_place(line, "all_reduce", &mut all, reduce).is_err());
                assert!(begun.is_err());
                continue;
            }
            mesh.reduce_in_place(line, "all_reduce", &mut all, reduce)?;
            let expected: Vec<E> = (0..len).map(|place| reduced(line, reduce, place).unwrap()).collect();
            assert_eq!(text(&all), text(&expected), "{reduce:?} of {len} {}", E::DTYPE);
            assert_eq!(text(&begun?.wait(mesh)?), text(&expected), "{reduce:?} of {len} {}, begun", E::DTYPE);

            // Blocks of different lengths, one of them empty.
            let counts: Vec<usize> = (0..size).map(|rank| rank * len / 3).collect();
            let all = elements::<E>(rank, counts.iter().sum());
            let own = mesh.scatter_reduced(line, &all, &counts, reduce)?;
            let start: usize = counts[..rank].iter().sum();
            let expected: Vec<E> =
                (start..start + counts[rank]).map(|place| reduced(line, reduce, place).unwrap()).collect();
            assert_eq!(text(&own), text(&expected), "scattered {reduce:?} of {len} {}", E::DTYPE);
        }
        let counts: Vec<usize> = (0..size).map(|rank| (rank + 1) % size * len).collect();
        let own = elements::<E>(rank, counts[rank]);
        let expected: Vec<E> = (0..size).flat_map(|rank| elements(rank, counts[rank])).collect();
        let begun = mesh.begin_gather(line, own.clone(), &counts)?;
        assert_eq!(text(&mesh.gather(line, &own, &counts)?), text(&expected));
        assert_eq!(text(&begun.wait(mesh)?), text(&expected));

        // From each rank to each another number of elements.
        let count = |from: usize, to: usize| (from + 2 * to) % 3 * len;
        let sent = |from: usize, to: usize| (0..count(from, to)).map(move |place| element::<E>(from * 7 + to, place));
        let own: Vec<E> = (0..size).flat_map(|to| sent(rank, to)).collect();
        let to: Vec<usize> = (0..size).map(|to| count(rank, to)).collect();
        let from: Vec<usize> = (0..size).map(|from| count(from, rank)).collect();
        let expected: Vec<E> = (0..size).flat_map(|from| sent(from, rank)).collect();
        assert_eq!(text(&mesh.exchange(line, &own, &to, &from)?), text(&expected));

        for from in 0..size {
            let mut own = elements::<E>(rank, len);
            mesh.broadcast(line, &mut own, from)?;
            assert_eq!(text(&own), text(&elements::<E>(from, len)));
        }

        for periodic in [false, true] {
            let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
            // A rank sends `len` elements to the one before it, and twice as many to the one after it.
            let [for_before, for_after] = [elements::<E>(2 * rank, len), elements::<E>(2 * rank + 1, 2 * len)];
            let [a, b] = mesh.neighbours(line, &for_before, &for_after, 2 * len, len, periodic)?;
            let from_before: Vec<E> = if periodic || rank > 0 { elements(2 * before + 1, 2 * len) } else { Vec::new() };
            let from_after: Vec<E> = if periodic || rank + 1 < size { elements(2 * after, len) } else { Vec::new() };
            assert_eq!([text(&a), text(&b)], [text(&from_before), text(&from_after)], "{periodic}, {len}");
        }
    }
    Ok(())
}

/// All of it, along each axis and over all ranks.
pub(super) fn everything(mesh: &Mesh<Grid>) -> crate::Result<()> {
    for line in [mesh.line::<Data>(), mesh.line::<Model>(), mesh.all()] {
        macro_rules! check_all {
            ($($ty:ty)*) => { $(check::<$ty>(mesh, line)?;)* };
        }
        check_all! { bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f16> Complex<f32> Complex<f64> }
    }
    half_is_rounded_once(mesh)?;
    wrong_lengths(mesh)
}

/// 2048 + 1 + 1 + … is 2048 if each sum is rounded to `f16`.
fn half_is_rounded_once(mesh: &Mesh<Grid>) -> crate::Result<()> {
    let line = mesh.all();
    let mut own = [f16::from_f32(if line.rank == 0 { 2048.0 } else { 1.0 })];
    mesh.reduce_in_place(line, "all_reduce", &mut own, Sum)?;
    assert_eq!(own, [f16::from_f32(2048.0 + (line.size - 1) as f32)]);
    Ok(())
}

/// What is found before anything is sent: the ranks go on together.
fn wrong_lengths(mesh: &Mesh<Grid>) -> crate::Result<()> {
    let line = mesh.all();
    let (own, counts) = (vec![1_i32; 3], vec![2; line.size]);
    let told = |outcome: crate::Result<Vec<i32>>| outcome.unwrap_err().to_string();
    let text = told(mesh.gather(line, &own, &counts));
    assert!(text.contains("this rank has 3 elements, and 2 are said") && text.contains("checks.rs:"), "{text}");
    let text = told(mesh.gather(line, &own, &[]));
    assert!(text.contains(&format!("0 counts for {} ranks", line.size)), "{text}");
    let text = told(mesh.scatter_reduced(line, &vec![1; 2 * line.size + 1], &counts, Sum));
    assert!(text.contains("and counts"), "{text}");
    let text = told(mesh.exchange(line, &own[..1], &counts, &counts));
    assert!(text.contains("own elements are 1"), "{text}");
    let text = told(mesh.exchange(line, &vec![1; 2 * line.size], &counts, &vec![usize::MAX; line.size]));
    assert!(text.contains("sends itself 2 elements"), "{text}");
    let text = mesh.broadcast(line, &mut [1], line.size).unwrap_err().to_string();
    assert!(text.contains("there is no rank"), "{text}");
    mesh.barrier()
}
