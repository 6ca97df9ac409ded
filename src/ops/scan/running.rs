//! Running sums, products, extremes and sums of exponentials: each element depends on those before it.
//! Uses the formulas of `elementwise`.

use crate::dtype::{Binary, Castable, Complex, Compute, DType, Dtype, MachineFloat};
use crate::ops;
use crate::ops::kernel::LaneKernel;
use crate::ops::reduce::Accumulating;

/// The sums of the elements so far.
#[derive(Clone, Copy)]
pub(crate) struct RunningSum;
impl<E: Dtype> LaneKernel<E, E::Sum> for RunningSum {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E::Sum], (): &mut ()) {
        // PyTorch's `acc_type`: single precision runs in double.
        if matches!(E::DTYPE, DType::F32 | DType::C64) {
            let mut sum = Complex::<f64>::default();
            for (to, from) in to.iter_mut().zip(from) {
                sum += from.cast::<Complex<f64>>();
                *to = sum.cast();
            }
        } else {
            let mut sum = <E::Sum as Dtype>::Compute::default();
            for (to, from) in to.iter_mut().zip(from) {
                sum = sum.binary::<Accumulating>(from.cast::<E::Sum>().to_compute());
                *to = Dtype::from_compute(sum);
            }
        }
    }
}

/// Runs on in the number `C`: `combine(before, element)`.
#[inline(always)]
fn run_on<C: Compute + Castable, F: Binary, E: Dtype, O: Dtype>(from: &[E], to: &mut [O], start: f64) {
    let mut running = C::from_f64(start);
    for (to, x) in to.iter_mut().zip(from) {
        running = running.binary::<F>(x.cast::<O>().to_compute().cast());
        *to = running.cast();
    }
}

/// The products of the elements so far.
#[derive(Clone, Copy)]
pub(crate) struct RunningProduct;
impl<E: Dtype> LaneKernel<E, E::Sum> for RunningProduct {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E::Sum], (): &mut ()) {
        // PyTorch's `acc_type`: single precision runs in double.
        match E::DTYPE {
            DType::F32 => run_on::<f64, ops::mul, _, _>(from, to, 1.0),
            DType::C64 => run_on::<Complex<f64>, ops::mul, _, _>(from, to, 1.0),
            _ => run_on::<<E::Sum as Dtype>::Compute, ops::mul, _, _>(from, to, 1.0),
        }
    }
}

/// Whether an element takes the place of the extreme one so far: it is NaN, or beats or equals a number.
#[inline(always)]
fn succeeds<E: Dtype, const MAX: bool>(element: E, extreme: E) -> bool {
    let (x, extreme) = (element.to_compute(), extreme.to_compute());
    let nan = |x: E::Compute| x.predicate::<ops::isnan>();
    let beats = if MAX { x.compare::<ops::ge>(extreme) } else { x.compare::<ops::le>(extreme) };
    nan(x) || (beats && !nan(extreme))
}

/// The largest (`MAX`) or smallest element so far, and where it is: of equals the last.
#[derive(Clone, Copy)]
pub(crate) struct RunningExtreme<const MAX: bool>;
impl<E: Dtype, const MAX: bool> LaneKernel<E, (E, i64)> for RunningExtreme<MAX> {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [(E, i64)], (): &mut ()) {
        let Some(&first) = from.first() else { return };
        let mut extreme = (first, 0);
        for (at, (to, &x)) in (0..).zip(to.iter_mut().zip(from)) {
            if succeeds::<E, MAX>(x, extreme.0) {
                extreme = (x, at);
            }
            *to = extreme;
        }
    }
}

/// `log(exp(a) + exp(b))`
struct AddingExponentials;
impl Binary for AddingExponentials {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        let nan = a.is_nan() || b.is_nan();
        let (low, high) = if a > b { (b, a) } else { (a, b) };
        if nan {
            a + b
        } else if low == high && low.is_infinite() {
            b
        } else {
            (low - high).exp().ln_1p() + high
        }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        // PyTorch's order: where all are -inf the sum so far stays.
        ops::logaddexp::complex(b, a)
    }
}

/// The logarithms of the sums of exponentials so far.
#[derive(Clone, Copy)]
pub(crate) struct RunningLogSumExp;
impl<E: Dtype> LaneKernel<E, E> for RunningLogSumExp {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E], (): &mut ()) {
        // PyTorch's `acc_type`: single precision runs in double.
        match E::DTYPE {
            DType::F32 => run_on::<f64, AddingExponentials, _, _>(from, to, f64::NEG_INFINITY),
            DType::C64 => run_on::<Complex<f64>, AddingExponentials, _, _>(from, to, f64::NEG_INFINITY),
            _ => run_on::<E::Compute, AddingExponentials, _, _>(from, to, f64::NEG_INFINITY),
        }
    }
}
