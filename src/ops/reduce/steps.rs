//! The steps of a reduction, generic over the number type: machine numbers for the host's loops, recorded numbers for GPU text, and dual
//! numbers. Each reducer's formulas are written once, here or next to it.

use crate::dtype::{Binary, Complex, Compute, MachineFloat, MachineInt, ToReal};
use core::ops::Add;

/// A position among the elements, or a count.
pub(crate) trait Index: Copy + PartialOrd + Add<Output = Self> + From<bool> + Send + Sync + 'static {
    /// Greater than all other positions.
    fn last() -> Self;
}
impl Index for usize {
    #[inline(always)]
    fn last() -> usize {
        usize::MAX
    }
}
impl Index for i64 {
    #[inline(always)]
    fn last() -> i64 {
        i64::MAX
    }
}

/// The run-time values of a reducer, up to two.
pub(crate) type Given<C> = [<C as Compute>::Real; 2];

/// The steps of a reduction; `Reducer` documents them.
pub(crate) trait Steps: Copy + Send + Sync + 'static {
    /// The accumulator.
    type Partial<C: Compute, I: Index>: Copy + Send + Sync;
    /// The result, before it is converted to its dtype.
    type Out<C: Compute, I: Index>: Copy;
    /// The accumulator before the first element.
    fn start<C: Compute, I: Index>(self) -> Self::Partial<C, I>;
    /// Accumulates an element.
    fn accumulate<C: Compute, I: Index>(
        self,
        partial: Self::Partial<C, I>,
        element: C,
        index: I,
        given: Given<C>,
    ) -> Self::Partial<C, I>;
    /// Merges two accumulators.
    fn merge<C: Compute, I: Index>(self, one: Self::Partial<C, I>, other: Self::Partial<C, I>) -> Self::Partial<C, I>;
    /// The number of elements that count, out of `count`.
    #[inline(always)]
    fn counted<C: Compute, I: Index>(self, _: Self::Partial<C, I>, count: I) -> I {
        count
    }
    /// The result; `count` is the number of counted elements.
    fn finish<C: Compute, I: Index>(self, partial: Self::Partial<C, I>, count: C, given: Given<C>) -> Self::Out<C, I>;
}

/// Steps with a second result.
pub(crate) trait StepsOfTwo: Steps {
    /// The second result, before it is converted to its dtype.
    type Second<C: Compute, I: Index>: Copy;
    /// The second result.
    fn second<C: Compute, I: Index>(self, partial: Self::Partial<C, I>) -> Self::Second<C, I>;
}

/// The values of a reducer without run-time values.
#[inline(always)]
pub(super) fn nothing<C: Compute>() -> Given<C> {
    Default::default()
}

/// Whether a number is nonzero.
#[inline(always)]
pub(super) fn is_truth<C: Compute>(x: C) -> bool {
    x != C::default()
}

#[inline(always)]
pub(super) fn is_nan<C: Compute>(x: C) -> bool {
    x.predicate::<crate::ops::isnan>()
}

/// Addition. Unlike [`add`](crate::ops::add), it does not multiply by `alpha`, so NaN in one part of a complex sum does not spread to the
/// other part.
#[derive(Clone, Copy)]
pub(crate) struct Accumulating;
impl Binary for Accumulating {
    const MERGING: crate::ops::slope::Merging = crate::ops::slope::Merging::Add;
    const SIMPLE: crate::ops::slope::Simple = crate::ops::slope::Simple::Sum;
    const DERIVATIVE_READS: [u32; 3] = [0; 3];
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_add(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a + b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a + b
    }
}

/// The real part.
pub(super) struct RealPart;
impl ToReal for RealPart {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        z.re
    }
}
/// The imaginary part.
pub(super) struct ImaginaryPart;
impl ToReal for ImaginaryPart {
    #[inline(always)]
    fn real<T: MachineFloat>(_: T) -> T {
        T::zero()
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        z.im
    }
}

/// The methods of a `Reducer` of elements `E`, by its steps:
///
/// `by_steps! { self: self, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |out| E::from_compute(out) }` writes
/// `fn start(self) -> Self::Partial { Steps::start::<E::Compute, usize>(self) }` and so on; `accumulate` converts elements to numbers by
/// the first closure, `finish` converts the result by the second. The arguments before them are the steps, the number and position types,
/// and the run-time values.
macro_rules! by_steps {
    ($self:ident: $steps:expr, $number:ty, $index:ty, $given:expr; |$x:ident| $element:expr; |$out:ident| $result:expr) => {
        #[inline(always)]
        fn start($self) -> Self::Partial {
            Steps::start::<$number, $index>($steps)
        }
        #[inline(always)]
        fn accumulate($self, partial: Self::Partial, $x: E, index: usize) -> Self::Partial {
            Steps::accumulate::<$number, $index>($steps, partial, $element, index as $index, $given)
        }
        #[inline(always)]
        fn merge($self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
            Steps::merge::<$number, $index>($steps, one, other)
        }
        #[inline(always)]
        fn finish($self, partial: Self::Partial, count: usize) -> Self::Out {
            let count = Steps::counted::<$number, $index>($steps, partial, count as $index);
            let count = <$number as Compute>::number(count as f64);
            let $out = Steps::finish::<$number, $index>($steps, partial, count, $given);
            $result
        }
    };
}
pub(super) use by_steps;
