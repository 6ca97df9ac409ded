//! The steps of a row function, generic over the number type: passes that compute statistics, then each element.

use super::ExtremeOfTwo;
use crate::dtype::{Binary, Complex, Compute, MachineFloat, Unary};

/// How a pass combines the terms of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// Their sum.
    Sum,
    /// The largest; NaN if any is NaN.
    Largest,
}

/// The steps of a row function.
pub(crate) trait RowSteps: Copy + Send + Sync + 'static {
    /// The passes, at most two. Each computes one number, which later passes and the elements get.
    const PASSES: &'static [Pass];
    /// The term of an element in a pass.
    fn term<C: Compute>(self, pass: usize, element: C, measured: [C; 2]) -> C;
    /// The number that a pass computes from the total of `count` terms, and the run-time value.
    fn measured<C: Compute>(self, pass: usize, total: C, count: C, given: C) -> C;
    /// An element of the result, given those of the shared rows.
    fn element<C: Compute>(self, measured: [C; 2], element: C, shared: [Option<C>; 2]) -> C;
    /// Whether terms of finite elements may overflow. Such rows are measured and computed after scaling by a power of two that makes their
    /// largest element about 1.
    const GROWS: bool = false;
    /// Whether these measurements suggest an overflow.
    #[inline(always)]
    fn is_beyond<C: Compute>(self, _measured: [C; 2]) -> bool {
        false
    }
}

/// The larger part (real or imaginary) of a number, and the larger of two; NaN if any is NaN.
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

/// The power of two that scales a row with this largest part; 1 if that is not finite, or small.
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

/// A number times this power of two.
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
/// The epsilon to add to the mean of squares of elements scaled by a power of two.
#[inline(always)]
pub(crate) fn beside_powers<C: Compute>(given: C, power: C) -> C {
    given.binary::<TimesPower>(power).binary::<TimesPower>(power)
}
