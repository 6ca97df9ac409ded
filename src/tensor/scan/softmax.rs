//! `softmax`, `log_softmax` and `logsumexp`. `reduce` and `lazy` use `LogSumExp`.

use crate::device::Device;
use crate::dtype::{Binary, Castable, Complex, Compute, Dtype, Element, MachineFloat};
use crate::error::{Result, filled, unwrap};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::LaneKernel;
use crate::ops::reduce::{Accumulating, Extreme, Reducer, blocked_sum, by_lanes};
use crate::shape::{Axes, AxisArg, HasAxis, Shape};
use crate::tensor::Tensor;
use crate::tensor::scan::cumulative::along;

/// Exponentials that are kept before they are added up.
const BLOCK: usize = 1024;

/// `exp(x - max) / sum`, or its logarithm.
#[derive(Clone, Copy)]
struct Softmax<const LOG: bool>;
impl<const LOG: bool, E: Dtype> LaneKernel<E, E> for Softmax<LOG> {
    /// The exponentials, before they are divided.
    type Scratch = Vec<E::Compute>;
    fn scratch(self, len: usize) -> Result<Vec<E::Compute>> {
        filled(E::Compute::default(), if LOG { 0 } else { len })
    }
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E], exponentials: &mut Vec<E::Compute>) {
        if from.is_empty() {
            return;
        }
        let max = Reducer::<E>::block(Extreme::<E, true>::new(), from, 0);
        let exponential = |x: &E| x.to_compute().binary::<ops::sub>(max).unary::<ops::exp>();
        if LOG {
            let log_sum = blocked_sum(from, exponential).unary::<ops::log>();
            for (to, x) in to.iter_mut().zip(from) {
                *to = E::from_compute(x.to_compute().binary::<ops::sub>(max).binary::<ops::sub>(log_sum));
            }
        } else {
            let mut sum = E::Compute::default();
            for (kept, block) in exponentials.chunks_mut(BLOCK).zip(from.chunks(BLOCK)) {
                for (kept, x) in kept.iter_mut().zip(block) {
                    *kept = exponential(x);
                }
                sum = sum.binary::<Accumulating>(blocked_sum(kept, |&x| x));
            }
            let share = sum.unary::<ops::reciprocal>();
            for (to, x) in to.iter_mut().zip(exponentials) {
                *to = E::from_compute(x.binary::<ops::mul>(share));
            }
        }
    }
}

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

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `exp(x) / sum(exp(x))` along an axis (`torch.softmax`), for floats. Computed without overflow.
    ///
    /// # Panics
    /// If memory runs out; [`try_softmax`](Self::try_softmax) returns it.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[0.0, 0.0], [1000.0, 0.0]].softmax(axis![-1]).to_vec(), [0.5, 0.5, 1.0, 0.0]);
    /// ```
    #[track_caller]
    pub fn softmax<const I: isize>(&self, axis: impl AxisArg<I>) -> Tensor<E, S, D>
    where
        S: HasAxis<I>,
        E: FloatFor<ops::reduce::softmax>,
    {
        unwrap(self.try_softmax(axis))
    }

    /// [`softmax`](Self::softmax), returning the error.
    pub fn try_softmax<const I: isize>(&self, _axis: impl AxisArg<I>) -> Result<Tensor<E, S, D>>
    where
        S: HasAxis<I>,
        E: FloatFor<ops::reduce::softmax>,
    {
        along::<I, _, E, S, D>(Softmax::<false>, self)
    }

    /// The logarithm of [`softmax`](Self::softmax) along an axis (`torch.log_softmax`), for floats.
    ///
    /// # Panics
    /// If memory runs out; [`try_log_softmax`](Self::try_log_softmax) returns it.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1000.0, 0.0]].log_softmax(axis![-1]).to_vec(), [0.0, -1000.0]);
    /// ```
    #[track_caller]
    pub fn log_softmax<const I: isize>(&self, axis: impl AxisArg<I>) -> Tensor<E, S, D>
    where
        S: HasAxis<I>,
        E: FloatFor<ops::reduce::log_softmax>,
    {
        unwrap(self.try_log_softmax(axis))
    }

    /// [`log_softmax`](Self::log_softmax), returning the error.
    pub fn try_log_softmax<const I: isize>(&self, _axis: impl AxisArg<I>) -> Result<Tensor<E, S, D>>
    where
        S: HasAxis<I>,
        E: FloatFor<ops::reduce::log_softmax>,
    {
        along::<I, _, E, S, D>(Softmax::<true>, self)
    }

    /// The logarithm of the sum of exponentials over axes (`torch.logsumexp`). Integers and bools give `f32`. Computed
    /// without overflow.
    ///
    /// # Panics
    /// If memory runs out; [`try_logsumexp`](Self::try_logsumexp) returns it.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1000.0, 0.0], [5.0, -1000.0]].logsumexp(axis![1]).to_vec(), [1000.0, 5.0]);
    /// ```
    #[track_caller]
    pub fn logsumexp<A: Axes<S>, O: Dtype>(&self, axes: A) -> Tensor<O, A::Reduced, D>
    where
        E: Dtype<Inexact = O>,
    {
        unwrap(self.try_logsumexp(axes))
    }

    /// [`logsumexp`](Self::logsumexp), returning the error.
    pub fn try_logsumexp<A: Axes<S>, O: Dtype>(&self, _axes: A) -> Result<Tensor<O, A::Reduced, D>>
    where
        E: Dtype<Inexact = O>,
    {
        crate::tensor::reduce::reductions::reduce::<ops::reduce::logsumexp, _, E, S, A::Reduced, D>(
            LogSumExp,
            self,
            A::MASK,
            A::KEEPS,
        )
    }
}
