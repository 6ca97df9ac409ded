//! The steps of a function of a row, over numbers of any kind: passes that measure the row, then each element.
//!
//! Uses the formulas; used by the kernels of rows (`normalize`, `softmax`) and by `ops::text`.

#[cfg(any(test, feature = "cuda"))]
use super::Accumulating;
use super::ExtremeOfTwo;
use crate::dtype::{Binary, Complex, Compute, MachineFloat, Unary};

/// How a pass puts the terms of a row together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// Their sum.
    Sum,
    /// The largest; NaN if there is one.
    Largest,
}
#[cfg(any(test, feature = "cuda"))]
impl Pass {
    /// Before the first term.
    pub(crate) fn start<C: Compute>(self) -> C {
        match self {
            Pass::Sum => C::default(),
            Pass::Largest => C::default().unary::<ExtremeOfTwo<true>>(),
        }
    }
    /// Two totals as one, or a total and a term.
    pub(crate) fn merge<C: Compute>(self, one: C, other: C) -> C {
        match self {
            Pass::Sum => one.binary::<Accumulating>(other),
            Pass::Largest => one.binary::<ExtremeOfTwo<true>>(other),
        }
    }
}

/// The steps of a function of a row.
pub(crate) trait RowSteps: Copy + Send + Sync + 'static {
    /// The passes, at most two. Each measures one number, which those after it and the elements are given.
    const PASSES: &'static [Pass];
    /// What an element counts in a pass.
    fn term<C: Compute>(self, pass: usize, element: C, measured: [C; 2]) -> C;
    /// What a pass measures, of the total of so many terms; with the run-time value.
    fn measured<C: Compute>(self, pass: usize, total: C, count: C, given: C) -> C;
    /// An element of the result, with those of the shared rows.
    fn element<C: Compute>(self, measured: [C; 2], element: C, shared: [Option<C>; 2]) -> C;
    /// Whether terms of finite elements may be beyond the numbers. Such rows are measured, and their elements computed, times a power of two
    /// that makes the largest part of them about 1.
    const GROWS: bool = false;
    /// Whether what has been measured says so: the row may be such a one.
    #[inline(always)]
    fn is_beyond<C: Compute>(self, _measured: [C; 2]) -> bool {
        false
    }
}

/// The larger part of a number, and the larger of two of them; NaN if there is one.
pub(crate) struct LargestPart;
impl Unary for LargestPart {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x.abs()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        Complex { re: <ExtremeOfTwo<true> as Binary>::real(z.re.abs(), z.im.abs()), im: T::zero() }
    }
}
impl Binary for LargestPart {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        <ExtremeOfTwo<true> as Binary>::real(a, b)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex { re: <ExtremeOfTwo<true> as Binary>::real(a.re, b.re), im: T::zero() }
    }
}

/// The power of two by which a row with this largest part is multiplied: 1 where it is not finite, or small.
pub(crate) struct PowerOfRow;
impl Unary for PowerOfRow {
    #[inline(always)]
    fn real<T: MachineFloat>(largest: T) -> T {
        if largest.is_finite() && largest >= T::lit(2.0) { T::one() / largest.binade() } else { T::one() }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(largest: Complex<T>) -> Complex<T> {
        Complex { re: Self::real(largest.re), im: T::zero() }
    }
}

/// A number times such a power.
pub(crate) struct TimesPower;
impl Binary for TimesPower {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, power: T) -> T {
        x * power
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>, power: Complex<T>) -> Complex<T> {
        Complex { re: z.re * power.re, im: z.im * power.re }
    }
}
/// What is added to the mean of squares, where elements are multiplied by a power.
#[inline(always)]
pub(crate) fn beside_powers<C: Compute>(given: C, power: C) -> C {
    given.binary::<TimesPower>(power).binary::<TimesPower>(power)
}
