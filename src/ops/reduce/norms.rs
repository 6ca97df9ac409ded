//! Reductions that ignore NaN, count, and compute norms: `nansum`, `nanmean`, `count_nonzero`, `vector_norm`.
//!
//! Uses sums and lanes; used by `tensor` and `any`.

use super::lanes::{NARROW_LANES, block_small, lanes, lanes_small};
use super::{Accumulating, Reducer, Sum, interleave};
use crate::dtype::{Castable, Complex, Compute, Dtype, MachineFloat, ToReal};
use core::marker::PhantomData;

/// The sum of the elements that are not NaN.
#[derive(Clone, Copy)]
pub struct NanSum;
impl<E: Dtype> Reducer<E> for NanSum {
    type Partial = <E::Sum as Dtype>::Compute;
    type Out = E::Sum;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn accumulate(self, partial: Self::Partial, element: E, index: usize) -> Self::Partial {
        let number = if is_nan(element) { E::default() } else { element };
        Sum.accumulate(partial, number, index)
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

#[inline(always)]
fn is_nan<E: Dtype>(element: E) -> bool {
    element.to_compute().predicate::<crate::ops::isnan>()
}

/// The mean of the elements that are not NaN.
#[derive(Clone, Copy)]
pub struct NanMean;
impl<E: Dtype> Reducer<E> for NanMean {
    /// Their sum and count.
    type Partial = (E::Compute, usize);
    type Out = E;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn accumulate(self, (sum, count): Self::Partial, element: E, _: usize) -> Self::Partial {
        let nan = is_nan(element);
        let number = if nan { E::Compute::default() } else { element.to_compute() };
        (sum.binary::<Accumulating>(number), count + usize::from(!nan))
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        (one.0.binary::<Accumulating>(other.0), one.1 + other.1)
    }
    #[inline(always)]
    fn finish(self, (sum, count): Self::Partial, _: usize) -> E {
        E::from_compute(sum.binary::<crate::ops::div>(<E::Compute as Castable>::from_f64(count as f64)))
    }
}

/// How many elements are not zero.
#[derive(Clone, Copy)]
pub struct CountNonzero;
impl<E: Dtype> Reducer<E> for CountNonzero {
    type Partial = i64;
    type Out = i64;
    #[inline(always)]
    fn start(self) -> i64 {
        0
    }
    #[inline(always)]
    fn accumulate(self, partial: i64, element: E, _: usize) -> i64 {
        partial + i64::from(element.cast::<bool>())
    }
    #[inline(always)]
    fn merge(self, one: i64, other: i64) -> i64 {
        one + other
    }
    #[inline(always)]
    fn finish(self, partial: i64, _: usize) -> i64 {
        partial
    }
}

/// The square of the absolute value.
pub(crate) struct Squared;
impl ToReal for Squared {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x * x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        z.re * z.re + z.im * z.im
    }
}

/// The real type of the accumulate type of `E`.
type RealOf<E> = <<E as Dtype>::Compute as Compute>::Real;

/// The sum of a real function of each element.
struct SumOf<F>(PhantomData<fn() -> F>);
impl<F> Clone for SumOf<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for SumOf<F> {}
impl<F: ToReal, E: Dtype> Reducer<E> for SumOf<F> {
    type Partial = RealOf<E>;
    type Out = E::RealDtype;
    #[inline(always)]
    fn start(self) -> RealOf<E> {
        Default::default()
    }
    #[inline(always)]
    fn accumulate(self, partial: RealOf<E>, element: E, _: usize) -> RealOf<E> {
        partial.binary::<Accumulating>(element.to_compute().to_real::<F>())
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn blocks<const M: usize>(self, lines: [&[E]; M]) -> [RealOf<E>; M] {
        interleave(self, lines)
    }
    #[inline(always)]
    fn merge(self, one: RealOf<E>, other: RealOf<E>) -> RealOf<E> {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: RealOf<E>, _: usize) -> E::RealDtype {
        partial.cast()
    }
}

/// Which norm.
#[derive(Clone, Copy, PartialEq)]
enum NormOrder {
    Count,
    /// The largest magnitude; NaN propagates.
    CountOfNumbers,
    Sum,
    Euclidean,
    Largest,
    /// The largest magnitude that is not NaN.
    LargestNumber,
    Smallest,
    Power(f64),
}

/// The norm of a vector.
#[derive(Clone, Copy)]
pub struct VectorNorm {
    order: NormOrder,
}
impl VectorNorm {
    /// The norm of this order.
    pub fn new(ord: f64) -> Self {
        let order = match ord {
            0.0 => NormOrder::Count,
            1.0 => NormOrder::Sum,
            2.0 => NormOrder::Euclidean,
            f64::INFINITY => NormOrder::Largest,
            f64::NEG_INFINITY => NormOrder::Smallest,
            power => NormOrder::Power(power),
        };
        VectorNorm { order }
    }

    /// The norm of a difference, as distances define it: NaN propagates, except in the largest, which ignores it.
    /// Source: `aten/src/ATen/native/cpu/DistanceOpsKernel.cpp`.
    pub(crate) fn of_difference(p: f64) -> Self {
        match p {
            0.0 => VectorNorm { order: NormOrder::CountOfNumbers },
            f64::INFINITY => VectorNorm { order: NormOrder::LargestNumber },
            p => VectorNorm::new(p),
        }
    }
}
impl<E: Dtype> Reducer<E> for VectorNorm {
    type Partial = RealOf<E>;
    type Out = E::RealDtype;
    fn has_identity(self) -> bool {
        !matches!(self.order, NormOrder::Largest | NormOrder::Smallest)
            && !matches!(self.order, NormOrder::Power(p) if p < 0.0)
    }
    #[inline(always)]
    fn start(self) -> RealOf<E> {
        match self.order {
            NormOrder::Smallest => Castable::from_f64(f64::INFINITY),
            _ => Default::default(),
        }
    }
    #[inline(always)]
    fn accumulate(self, partial: RealOf<E>, element: E, index: usize) -> RealOf<E> {
        let magnitude = || element.to_compute().to_real::<crate::ops::abs>();
        let term = match self.order {
            NormOrder::Euclidean => return SumOf::<Squared>(PhantomData).accumulate(partial, element, index),
            NormOrder::Count => Castable::from_f64(f64::from(u8::from(element.cast::<bool>()))),
            NormOrder::CountOfNumbers if is_nan(element) => Castable::from_f64(f64::NAN),
            NormOrder::CountOfNumbers => Castable::from_f64(f64::from(u8::from(element.cast::<bool>()))),
            NormOrder::Power(power) => magnitude().binary::<crate::ops::pow>(Castable::from_f64(power)),
            NormOrder::Sum | NormOrder::Largest | NormOrder::LargestNumber | NormOrder::Smallest => magnitude(),
        };
        <Self as Reducer<E>>::merge(self, partial, term)
    }
    #[inline(always)]
    fn merge(self, one: RealOf<E>, other: RealOf<E>) -> RealOf<E> {
        match self.order {
            NormOrder::Largest => one.binary::<crate::ops::maximum>(other),
            NormOrder::LargestNumber => one.binary::<crate::ops::fmax>(other),
            NormOrder::Smallest => one.binary::<crate::ops::minimum>(other),
            _ => one.binary::<Accumulating>(other),
        }
    }
    /// Specialised loops for the common norms.
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> RealOf<E> {
        match self.order {
            NormOrder::Sum => SumOf::<crate::ops::abs>(PhantomData).block(elements, index),
            NormOrder::Euclidean => SumOf::<Squared>(PhantomData).block(elements, index),
            _ => lanes::<E, Self, NARROW_LANES>(self, elements, index),
        }
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> RealOf<E> {
        match self.order {
            NormOrder::Sum | NormOrder::Euclidean => block_small(self, elements, index),
            _ => lanes_small(self, elements, index, NARROW_LANES),
        }
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn blocks<const M: usize>(self, lines: [&[E]; M]) -> [RealOf<E>; M] {
        match self.order {
            NormOrder::Sum => SumOf::<crate::ops::abs>(PhantomData).blocks(lines),
            NormOrder::Euclidean => SumOf::<Squared>(PhantomData).blocks(lines),
            _ => lines.map(|line| self.block(line, 0)),
        }
    }
    #[inline(always)]
    fn finish(self, partial: RealOf<E>, _: usize) -> E::RealDtype {
        let norm = match self.order {
            NormOrder::Euclidean => partial.unary::<crate::ops::sqrt>(),
            NormOrder::Power(power) => partial.binary::<crate::ops::pow>(Castable::from_f64(1.0 / power)),
            _ => partial,
        };
        norm.cast()
    }
}
