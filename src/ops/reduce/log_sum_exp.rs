//! The logarithm of a sum of exponentials, without overflow.

use super::steps::{Given, by_steps, nothing};
use super::{Accumulating, Index, Reducer, Steps, blocked_sum_of_costly, by_lanes};
use crate::dtype::{Binary, Complex, Compute, Dtype, MachineFloat, Parameters, Predicate, Promotable, Tuned, Unary};
use crate::ops;
use crate::ops::kernel::Precompiled;
use crate::ops::record::reduce::{Record, RecordedReducer, Reduction};

/// Largest element so far and the sum of exponentials relative to it; partial results rescale when a larger one comes.
#[derive(Clone, Copy)]
pub(crate) struct LogSumExp;
impl Steps for LogSumExp {
    /// The largest element and the sum; `None` before the first element.
    type Partial<C: Compute, I: Index> = Option<(C, C)>;
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> Option<(C, C)> {
        None
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(
        self,
        partial: Option<(C, C)>,
        element: C,
        _: I,
        _: Given<C>,
    ) -> Option<(C, C)> {
        let max = element.binary::<LargerReal>(element);
        merge(partial, Some((max, element.binary::<Below>(max))))
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, earlier: Option<(C, C)>, later: Option<(C, C)>) -> Option<(C, C)> {
        merge(earlier, later)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: Option<(C, C)>, _: C, _: Given<C>) -> C {
        // An empty sum of exponentials is 0, and its logarithm -inf.
        let Some((max, sum)) = partial else { return C::number(f64::NEG_INFINITY) };
        sum.unary::<ops::log>().binary::<Accumulating>(max.unary::<Finite>())
    }
}
/// The compute type.
type Inexact<E> = <<E as Promotable>::Inexact as Dtype>::Compute;
impl<E: Dtype> Reducer<E> for LogSumExp {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::LogSumExp;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::LogSumExp);
    type Partial = Option<(Inexact<E>, Inexact<E>)>;
    type Out = E::Inexact;
    const PREFERS_BLOCKS: bool = true;
    const FINISH_IS_COSTLY: bool = true;
    fn cost(self) -> usize {
        16
    }
    by_steps! { self: self, Inexact<E>, usize, nothing::<Inexact<E>>();
        |x| x.cast::<E::Inexact>().to_compute(); |sum| E::Inexact::from_compute(sum)
    }
    /// Finds the largest element first, then sums the exponentials relative to it.
    #[inline(always)]
    fn block(self, elements: &[E], _: usize) -> Self::Partial {
        let widened = |x: &E| x.cast::<E::Inexact>().to_compute();
        let first = widened(elements.first()?);
        let first = first.binary::<LargerReal>(first);
        let larger = |max: Inexact<E>, x: &E, _| max.binary::<LargerReal>(widened(x));
        let max = by_lanes::<E, _, 16>(elements, first, larger, |one, other| one.binary::<LargerReal>(other));
        Some((max, blocked_sum_of_costly(elements, |x| widened(x).binary::<Below>(max))))
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> Self::Partial {
        Reducer::<E>::block(self, elements, index)
    }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("logsumexp").computes::<E::Inexact>().gives::<E::Inexact>().read(self)
    }
}

/// The larger real part, without imaginary part; NaN if either is.
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

/// The number subtracted from exponents: the largest element, or 0 if that is infinite, as in PyTorch.
struct Finite;
impl Unary for Finite {
    #[inline(always)]
    fn real<T: MachineFloat>(max: T) -> T {
        if <ops::isinf as Predicate>::real(max) { T::zero() } else { max }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(max: Complex<T>) -> Complex<T> {
        if <ops::isinf as Predicate>::complex(max) { Complex::new(T::zero(), T::zero()) } else { max }
    }
}

/// `exp(x - max)`
struct Below;
impl Binary for Below {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, max: T) -> T {
        <ops::exp as Unary>::real(<ops::sub as Binary>::real(x, Finite::real(max)))
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(x: Complex<T>, max: Complex<T>) -> Complex<T> {
        <ops::exp as Unary>::complex(<ops::sub as Binary>::complex(x, Finite::complex(max)))
    }
}

/// Rescales a sum of exponentials from the first parameter to the second, which is no smaller.
struct Scaled;
impl Tuned for Scaled {
    #[inline(always)]
    fn real<T: MachineFloat>(sum: T, [of, max, _]: Parameters<T>) -> T {
        // If `of` is infinite, it equals `max`, or its sum is 0: no scaling in either case.
        if of == max || <ops::isinf as Predicate>::real(of) {
            sum
        } else {
            <ops::mul as Binary>::real(sum, Below::real(of, max))
        }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(sum: Complex<T>, [of, max, _]: Parameters<Complex<T>>) -> Complex<T> {
        let numbers = [sum.re, sum.im, of.re, of.im, max.re, max.im];
        let [re, im] = T::outline("log_sum_exp_scaled", numbers, |[re, im, of_re, of_im, max_re, max_im]| {
            let (sum, of, max) = (Complex::new(re, im), Complex::new(of_re, of_im), Complex::new(max_re, max_im));
            let scaled = if of == max || <ops::isinf as Predicate>::complex(of) {
                sum
            } else {
                <ops::mul as Binary>::complex(sum, Below::complex(of, max))
            };
            [scaled.re, scaled.im]
        });
        Complex::new(re, im)
    }
}

#[inline(always)]
fn merge<C: Compute>(a: Option<(C, C)>, b: Option<(C, C)>) -> Option<(C, C)> {
    let (Some((max_a, sum_a)), Some((max_b, sum_b))) = (a, b) else { return a.or(b) };
    let max = max_a.binary::<LargerReal>(max_b);
    let scaled = |sum: C, of: C| sum.tuned::<Scaled>([of, max, C::default()]);
    Some((max, scaled(sum_a, max_a).binary::<Accumulating>(scaled(sum_b, max_b))))
}
