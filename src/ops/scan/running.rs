//! Running sums, products, extremes and sums of exponentials: each element depends on those before it.
//! Uses the formulas of `elementwise`.

use super::steps::LaneSteps;
use crate::dtype::{Binary, Castable, Complex, Compute, DType, Dtype, MachineFloat};
use crate::ops;
use crate::ops::kernel::LaneKernel;
use crate::ops::reduce::{Accumulating, Index};
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::{
    lane::{LaneText, Scan},
    reduce::Written,
};

/// Runs on in the number `C`, from the start of the steps.
#[inline(always)]
fn run_on<C: Compute + Castable, S: LaneSteps<Partial<C, i64> = C>, E: Dtype, O: Dtype>(
    steps: S,
    from: &[E],
    to: &mut [O],
) {
    let mut running = steps.start::<C, i64>().unwrap_or_default();
    for (to, x) in to.iter_mut().zip(from) {
        let element = steps.of::<C, i64>(x.cast::<O>().to_compute().cast(), 0);
        running = steps.merge::<C, i64>(running, element);
        *to = running.cast();
    }
}

/// A running reduction by a formula of two numbers: `name: Formula, start, text's name, O` with the dtype of its result.
macro_rules! running {
    ($($(#[$doc:meta])* $kernel:ident by $formula:ty, from $start:expr, $name:literal -> $E:ident, $out:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $kernel;
        impl LaneSteps for $kernel {
            type Partial<C: Compute, I: Index> = C;
            #[inline(always)]
            fn start<C: Compute, I: Index>(self) -> Option<C> {
                Some(C::number($start))
            }
            #[inline(always)]
            fn of<C: Compute, I: Index>(self, element: C, _: I) -> C {
                element
            }
            #[inline(always)]
            fn merge<C: Compute, I: Index>(self, earlier: C, later: C) -> C {
                earlier.binary::<$formula>(later)
            }
        }
        impl<$E: Dtype> LaneKernel<$E, $out> for $kernel {
            type Scratch = ();
            #[inline(always)]
            fn lane(self, from: &[$E], to: &mut [$out], (): &mut ()) {
                // PyTorch's `acc_type`: single precision runs in double.
                match $E::DTYPE {
                    DType::F32 => run_on::<f64, _, _, _>(self, from, to),
                    DType::C64 => run_on::<Complex<f64>, _, _, _>(self, from, to),
                    _ => run_on::<<$out as Dtype>::Compute, _, _, _>(self, from, to),
                }
            }
            #[cfg(any(test, feature = "cuda"))]
            fn text(self) -> Written<LaneText> {
                let computes = match $E::DTYPE {
                    DType::F32 => DType::F64,
                    DType::C64 => DType::C128,
                    _ => <$out as crate::dtype::Element>::DTYPE,
                };
                Scan::of::<$E, $out>($name, computes).read(self).map(LaneText::Scan)
            }
        }
    )*};
}
running! {
    /// The sums of the elements so far.
    RunningSum by Accumulating, from 0.0, "cumsum" -> E, E::Sum;
    /// The products of the elements so far.
    RunningProduct by ops::mul, from 1.0, "cumprod" -> E, E::Sum;
    /// The logarithms of the sums of exponentials so far.
    RunningLogSumExp by AddingExponentials, from f64::NEG_INFINITY, "logcumsumexp" -> E, E;
}

/// Whether an element takes the place of the extreme one so far: it is NaN, or beats or equals a number.
#[inline(always)]
fn succeeds<C: Compute, const MAX: bool>(x: C, extreme: C) -> bool {
    let nan = |x: C| x.predicate::<ops::isnan>();
    let beats = if MAX { x.compare::<ops::ge>(extreme) } else { x.compare::<ops::le>(extreme) };
    nan(x) || (beats && !nan(extreme))
}

/// The largest (`MAX`) or smallest element so far, and where it is: of equals the last.
#[derive(Clone, Copy)]
pub(crate) struct RunningExtreme<const MAX: bool>;
impl<const MAX: bool> LaneSteps for RunningExtreme<MAX> {
    type Partial<C: Compute, I: Index> = (C, I);
    /// The first element is where it starts.
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> Option<(C, I)> {
        None
    }
    #[inline(always)]
    fn of<C: Compute, I: Index>(self, element: C, index: I) -> (C, I) {
        (element, index)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, earlier: (C, I), later: (C, I)) -> (C, I) {
        if succeeds::<C, MAX>(later.0, earlier.0) { later } else { earlier }
    }
}
impl<E: Dtype, const MAX: bool> LaneKernel<E, (E, i64)> for RunningExtreme<MAX> {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [(E, i64)], (): &mut ()) {
        let Some(&first) = from.first() else { return };
        // Elements themselves are kept, whatever they compute in.
        let mut extreme = (first, 0);
        for (at, (to, &x)) in (0..).zip(to.iter_mut().zip(from)) {
            if succeeds::<E::Compute, MAX>(x.to_compute(), extreme.0.to_compute()) {
                extreme = (x, at);
            }
            *to = extreme;
        }
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(self) -> Written<LaneText> {
        let name = if MAX { "cummax" } else { "cummin" };
        Scan::of::<E, E>(name, E::DTYPE).with_positions().read(self).map(LaneText::Scan)
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
