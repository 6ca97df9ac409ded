//! The logarithm of a sum of exponentials, without overflow.

use super::{Accumulating, Reducer, blocked_sum, by_lanes};
use crate::dtype::{Binary, Castable, Complex, Compute, Dtype, MachineFloat};
use crate::ops;

/// Largest element so far and sum of exponentials below it: partial results rescale when a larger one comes.
#[derive(Clone, Copy)]
pub(crate) struct LogSumExp;
impl<E: Dtype> Reducer<E> for LogSumExp {
    /// The largest and the sum, once there is anything.
    type Partial = Option<(<E::Inexact as Dtype>::Compute, <E::Inexact as Dtype>::Compute)>;
    type Out = E::Inexact;
    const PREFERS_BLOCKS: bool = true;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        None
    }
    #[inline(always)]
    fn accumulate(self, partial: Self::Partial, element: E, _: usize) -> Self::Partial {
        let element = element.cast::<E::Inexact>().to_compute();
        let max = element.binary::<LargerReal>(element);
        merge(partial, Some((max, below(element, max))))
    }
    /// The largest first, then the exponentials below it.
    #[inline(always)]
    fn block(self, elements: &[E], _: usize) -> Self::Partial {
        let widened = |x: &E| x.cast::<E::Inexact>().to_compute();
        let first = widened(elements.first()?);
        let first = first.binary::<LargerReal>(first);
        let larger = |max: <E::Inexact as Dtype>::Compute, x: &E, _| max.binary::<LargerReal>(widened(x));
        let max = by_lanes::<E, _, 16>(elements, first, larger, |one, other| one.binary::<LargerReal>(other));
        Some((max, blocked_sum(elements, |x| below(widened(x), max))))
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> Self::Partial {
        Reducer::<E>::block(self, elements, index)
    }
    #[inline(always)]
    fn merge(self, earlier: Self::Partial, later: Self::Partial) -> Self::Partial {
        merge(earlier, later)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E::Inexact {
        let Some((max, sum)) = partial else {
            // An empty sum of exponentials is 0, and its logarithm -inf.
            return <E::Inexact as Castable>::from_f64(f64::NEG_INFINITY);
        };
        E::Inexact::from_compute(sum.unary::<ops::log>().binary::<Accumulating>(finite(max)))
    }
}

/// The larger real part, without imaginary part; NaN if there is one.
struct LargerReal;
impl Binary for LargerReal {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        if a > b || a.is_nan() { a } else { b }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex::new(Self::real(a.re, b.re), T::zero())
    }
}

/// What is subtracted from exponents: the largest, but 0 where that is infinite, as in PyTorch.
#[inline(always)]
fn finite<C: Compute>(max: C) -> C {
    if max.predicate::<ops::isinf>() { C::default() } else { max }
}

/// `exp(x - max)`
#[inline(always)]
fn below<C: Compute>(x: C, max: C) -> C {
    x.binary::<ops::sub>(finite(max)).unary::<ops::exp>()
}

/// A sum of exponentials relative to `of` as one relative to `max`, which is no smaller.
#[inline(always)]
fn scale<C: Compute>(sum: C, of: C, max: C) -> C {
    // An infinite `of` equals `max`, or its sum is 0: no scaling in either case.
    if of == max || of.predicate::<ops::isinf>() { sum } else { sum.binary::<ops::mul>(below(of, max)) }
}

#[inline(always)]
fn merge<C: Compute>(a: Option<(C, C)>, b: Option<(C, C)>) -> Option<(C, C)> {
    let (Some((max_a, sum_a)), Some((max_b, sum_b))) = (a, b) else { return a.or(b) };
    let max = max_a.binary::<LargerReal>(max_b);
    Some((max, scale(sum_a, max_a, max).binary::<Accumulating>(scale(sum_b, max_b, max))))
}
