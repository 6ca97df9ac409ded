//! Sums, products, means, `any` and `all`.
//!
//! Uses the lanes of partial results; used by `tensor` and `any`.

use super::{Accumulating, Reducer, interleave};
use crate::dtype::{Castable, Compute, DType, Dtype};

/// The sum, in the dtype `E::Sum`.
#[derive(Clone, Copy)]
pub struct Sum;
impl<E: Dtype> Reducer<E> for Sum {
    type Partial = <E::Sum as Dtype>::Compute;
    type Out = E::Sum;
    const WIDENS_F16: bool = matches!(E::DTYPE, DType::F16);
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn accumulate(self, partial: Self::Partial, element: E, _: usize) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast::<E::Sum>().to_compute())
    }
    #[inline(always)]
    fn accumulate_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast())
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn blocks<const M: usize>(self, lines: [&[E]; M]) -> [Self::Partial; M] {
        interleave(self, lines)
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E::Sum {
        Dtype::from_compute(partial)
    }
}

/// The product, in the dtype `E::Sum`.
#[derive(Clone, Copy)]
pub struct Prod;
impl<E: Dtype> Reducer<E> for Prod {
    type Partial = <E::Sum as Dtype>::Compute;
    type Out = E::Sum;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        E::Sum::from_i32(1).to_compute()
    }
    #[inline(always)]
    fn accumulate(self, partial: Self::Partial, element: E, _: usize) -> Self::Partial {
        partial.binary::<crate::ops::mul>(element.cast::<E::Sum>().to_compute())
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        one.binary::<crate::ops::mul>(other)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E::Sum {
        Dtype::from_compute(partial)
    }
}

/// The mean: NaN of nothing.
#[derive(Clone, Copy)]
pub struct Mean;
impl<E: Dtype> Reducer<E> for Mean {
    type Partial = E::Compute;
    type Out = E;
    const WIDENS_F16: bool = matches!(E::DTYPE, DType::F16);
    #[inline(always)]
    fn start(self) -> E::Compute {
        Default::default()
    }
    #[inline(always)]
    fn accumulate(self, partial: E::Compute, element: E, _: usize) -> E::Compute {
        partial.binary::<Accumulating>(element.to_compute())
    }
    #[inline(always)]
    fn accumulate_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        partial.binary::<Accumulating>(element.cast())
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn blocks<const M: usize>(self, lines: [&[E]; M]) -> [Self::Partial; M] {
        interleave(self, lines)
    }
    #[inline(always)]
    fn merge(self, one: E::Compute, other: E::Compute) -> E::Compute {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: E::Compute, count: usize) -> E {
        E::from_compute(partial.binary::<crate::ops::div>(<E::Compute as Castable>::from_f64(count as f64)))
    }
}

/// Whether any element, or every element, is non-zero.
#[derive(Clone, Copy)]
pub struct AnyAll {
    /// An element of this truth decides.
    decides: bool,
}
impl AnyAll {
    /// Whether any element is non-zero.
    pub const ANY: Self = AnyAll { decides: true };
    /// Whether every element is.
    pub const ALL: Self = AnyAll { decides: false };
}
impl<E: Dtype> Reducer<E> for AnyAll {
    /// Whether an element that decides has been met.
    type Partial = bool;
    type Out = bool;
    const COUNTS_REPEATS: bool = false;
    #[inline(always)]
    fn start(self) -> bool {
        false
    }
    #[inline(always)]
    fn accumulate(self, partial: bool, element: E, _: usize) -> bool {
        partial | (element.cast::<bool>() == self.decides)
    }
    #[inline(always)]
    fn merge(self, one: bool, other: bool) -> bool {
        one | other
    }
    #[inline(always)]
    fn finish(self, partial: bool, _: usize) -> bool {
        partial == self.decides
    }
}
