//! Recorded numbers as the number type of reduction steps, and how accumulators, results and positions are decomposed into numbers.

use super::graph::{Id, Kind, Machine};
use super::number::{Operand, Recorded};
use crate::dtype::compute::computes;
use crate::dtype::{Binary, Castable, Compare, Complex, Compute, Parameters, Predicate, ToReal, Tuned, Unary, Visitor};
use crate::error::Result;
use crate::ops::reduce::{Index, Moments};

fn real<R: Machine + Castable>(value: f64) -> Recorded<R> {
    Recorded::constant(Castable::from_f64(value))
}
fn complex<R: Machine + Castable>(value: f64) -> Complex<Recorded<R>> {
    Complex { re: real(value), im: real(0.0) }
}
computes! { by real;
    Recorded<u8> as Recorded<u8>: integer integer integer_lanes;
    Recorded<i8> as Recorded<i8>: integer integer integer_lanes;
    Recorded<i16> as Recorded<i16>: integer integer integer_lanes;
    Recorded<i32> as Recorded<i32>: integer integer integer_lanes;
    Recorded<i64> as Recorded<i64>: integer integer integer_lanes;
    Recorded<f32> as Recorded<f32>: real real_by_scalar real_lanes;
    Recorded<f64> as Recorded<f64>: real real_by_scalar real_lanes;
}
computes! { by complex;
    Complex<Recorded<f32>> as Recorded<f32>: complex complex_by_scalar complex_lanes;
    Complex<Recorded<f64>> as Recorded<f64>: complex complex_by_scalar complex_lanes;
}

impl From<bool> for Recorded<i64> {
    fn from(value: bool) -> Self {
        Self::constant(value.into())
    }
}
impl Index for Recorded<i64> {
    fn last() -> Self {
        Self::constant(i64::MAX)
    }
}
/// Positions and counts in the text.
pub(crate) type Position = Recorded<i64>;

/// A type made of several numbers.
pub(crate) trait Fields: Sized {
    /// The kinds of the numbers.
    fn kinds() -> Vec<Kind>;
    /// Constructs it from the next arguments.
    fn next(at: &mut usize) -> Self;
    /// Appends its numbers.
    fn put(self, ids: &mut Vec<Id>);
}
impl<X: Operand> Fields for X {
    fn kinds() -> Vec<Kind> {
        X::KINDS.to_vec()
    }
    fn next(at: &mut usize) -> Self {
        let first = *at;
        *at += X::KINDS.len();
        X::arguments(first)
    }
    fn put(self, ids: &mut Vec<Id>) {
        ids.extend(self.ids());
    }
}
impl<A: Fields, B: Fields> Fields for (A, B) {
    fn kinds() -> Vec<Kind> {
        [A::kinds(), B::kinds()].concat()
    }
    fn next(at: &mut usize) -> Self {
        (A::next(at), B::next(at))
    }
    fn put(self, ids: &mut Vec<Id>) {
        self.0.put(ids);
        self.1.put(ids);
    }
}
impl<A: Fields, const N: usize> Fields for [A; N] {
    fn kinds() -> Vec<Kind> {
        A::kinds().repeat(N)
    }
    fn next(at: &mut usize) -> Self {
        core::array::from_fn(|_| A::next(at))
    }
    fn put(self, ids: &mut Vec<Id>) {
        for part in self {
            part.put(ids);
        }
    }
}
/// A flag whether it is `Some`, then its value.
impl<A: Fields + Default> Fields for Option<A> {
    fn kinds() -> Vec<Kind> {
        [vec![Kind::Bool], A::kinds()].concat()
    }
    fn next(at: &mut usize) -> Self {
        let (is_there, value) = (bool::next(at), A::next(at));
        is_there.then_some(value)
    }
    fn put(self, ids: &mut Vec<Id>) {
        self.is_some().put(ids);
        self.unwrap_or_default().put(ids);
    }
}
impl<T: Fields, const N: usize> Fields for Moments<T, N> {
    fn kinds() -> Vec<Kind> {
        T::kinds().repeat(1 + 2 * N)
    }
    fn next(at: &mut usize) -> Self {
        Moments { count: T::next(at), mean: Fields::next(at), squares: Fields::next(at) }
    }
    fn put(self, ids: &mut Vec<Id>) {
        self.count.put(ids);
        self.mean.put(ids);
        self.squares.put(ids);
    }
}

/// `over_numbers!(dtype, f::<_>(given))` calls `f` with the recorded number for the compute type of the dtype.
macro_rules! over_numbers {
    ($dtype:expr, $f:ident::<$($first:ident,)* _>($($given:expr),*)) => {
        match $crate::ops::record::rows::computes_in($dtype) {
            DType::Bool => $f::<$($first,)* bool>($($given),*),
            DType::U8 => $f::<$($first,)* Recorded<u8>>($($given),*),
            DType::I8 => $f::<$($first,)* Recorded<i8>>($($given),*),
            DType::I16 => $f::<$($first,)* Recorded<i16>>($($given),*),
            DType::I32 => $f::<$($first,)* Recorded<i32>>($($given),*),
            DType::I64 => $f::<$($first,)* Recorded<i64>>($($given),*),
            DType::F32 => $f::<$($first,)* Recorded<f32>>($($given),*),
            DType::F64 => $f::<$($first,)* Recorded<f64>>($($given),*),
            DType::C64 => $f::<$($first,)* Complex<Recorded<f32>>>($($given),*),
            DType::C128 => $f::<$($first,)* Complex<Recorded<f64>>>($($given),*),
            _ => Err(Unreadable::NotAdmitted),
        }
    };
}
pub(super) use over_numbers;
