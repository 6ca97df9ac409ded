//! Running sums, products, extremes and log-sum-exp: each element depends on those before it.

use super::one_lane::OneLane;
use super::steps::LaneSteps;
use crate::dtype::{Binary, Castable, Complex, Compute, DType, Dtype, MachineFloat};
use crate::ops;
use crate::ops::kernel::Precompiled;
use crate::ops::kernel::{LaneColumns, LaneKernel, LaneSlope, MOST_COLUMNS, SCAN_BLOCK};
use crate::ops::record::{
    lane::{RecordedLane, Scan},
    reduce::Record,
};
use crate::ops::reduce::{Accumulating, Index};

/// The rows of running sums and products in the table of operations along one axis.
macro_rules! running_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            cumsum { any sum, RunningSum,
                "Running sums along an axis. Bools and integers are summed in `i64`, which wraps.", "torch.cumsum",
                "tensor![[1, 2, 3], [4, 5, 6]]" axis "1" = "[[1, 3, 6], [4, 9, 15]]",
                #[op(cumsum(input, dim, dtype = None), dtypes = any, output = Computes)] #[in_place] fn dim [dtype] "1, None" [] }
            cumprod { any sum, RunningProduct,
                "Running products along an axis. Bools and integers are multiplied in `i64`, which wraps.", "torch.cumprod",
                "tensor![[1, 2, 3], [4, 5, 6]]" axis "1" = "[[1, 2, 6], [4, 20, 120]]",
                #[op(cumprod(input, dim, dtype = None), dtypes = any, output = Computes)] #[in_place] fn dim [dtype] "1, None" [] }
            logcumsumexp { inexact same, RunningLogSumExp,
                "The logarithm of the running sums of exponentials along an axis, for floats and complex numbers. Computed without overflow.",
                "torch.logcumsumexp", "tensor![1000.0, 0.0, 2000.0]" axis "0" = "[1000.0, 1000.0, 2000.0]",
                #[op(logcumsumexp(input, dim), dtypes = inexact)] fn dim [] "0" [] }
        } $($files)* }
    };
}
pub(crate) use running_rows;

/// Columns processed together, so that their dependency chains overlap.
const TOGETHER: usize = 4;
/// Minimum columns for which the loop over rows pays off.
const MIN_WIDE: usize = 12;

/// Processes all columns, a few together.
#[inline(always)]
pub(crate) fn descend<A: Copy, O, R: Copy>(
    lanes: &impl LaneColumns<A, O>,
    start: impl Fn(A) -> R,
    next: impl Fn(R, A, usize) -> R,
    result: impl Fn(R) -> O,
) {
    let (columns, mut column) = (lanes.columns(), 0);
    while column + TOGETHER <= columns {
        lanes.descend::<R, TOGETHER>(column, &start, &next, &result);
        column += TOGETHER;
    }
    while column < columns {
        lanes.descend::<R, 1>(column, &start, &next, &result);
        column += 1;
    }
}

/// Accumulates in the number `C`, from the initial value.
#[inline(always)]
fn run_on<C: Compute + Castable, S: LaneSteps<Partial<C, i64> = C>, E: Dtype, O: Dtype>(
    steps: S,
    lanes: &impl LaneColumns<E, O>,
) {
    let start = steps.start::<C, i64>().unwrap_or_default();
    let next = |running: C, x: E, _: usize| {
        let element = steps.of::<C, i64>(x.cast::<O>().to_compute().cast(), 0);
        steps.merge::<C, i64>(running, element)
    };
    let columns = lanes.columns();
    if lanes.has_dense_rows() && columns >= MIN_WIDE {
        let mut running = [start; MOST_COLUMNS];
        let running = &mut running[..columns];
        for row in 0..lanes.rows() {
            lanes.replace(row, |column, x| {
                running[column] = next(running[column], x, row);
                running[column].cast()
            });
        }
        return;
    }
    descend(lanes, |_| start, next, |running| running.cast());
}

/// A running reduction by a binary formula: `name: Formula, initial value, name in the text, O` with the result dtype.
macro_rules! running {
    ($($(#[$doc:meta])* $kernel:ident by $formula:ty, from $start:expr, $name:literal, $slope:ident -> $E:ident, $out:ty;)*) => {$(
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
            const SLOPE: LaneSlope = LaneSlope::$slope;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::$kernel);
            type Scratch = ();
            fn lane(self, from: &[$E], to: &mut [$out], (): &mut ()) {
                self.columns(&OneLane::new(from, to), &mut ());
            }
            const ALL_BY_COLUMNS: bool = true;
            #[inline(always)]
            fn columns(self, lanes: &impl LaneColumns<$E, $out>, (): &mut ()) {
                // PyTorch's `acc_type`: single precision accumulates in double.
                if const { matches!($E::DTYPE, DType::F32) } {
                    run_on::<f64, _, _, _>(self, lanes)
                } else if const { matches!($E::DTYPE, DType::C64) } {
                    run_on::<Complex<f64>, _, _, _>(self, lanes)
                } else {
                    run_on::<<$out as Dtype>::Compute, _, _, _>(self, lanes)
                }
            }
            fn text(self) -> Record<RecordedLane> {
                let computes = match $E::DTYPE {
                    DType::F32 => DType::F64,
                    DType::C64 => DType::C128,
                    _ => <$out as crate::dtype::Element>::DTYPE,
                };
                Scan::of::<$E, $out>($name, computes).read(self).map(RecordedLane::Scan)
            }
        }
    )*};
}
running! {
    /// The cumulative sum.
    RunningSum by Accumulating, from 0.0, "cumsum", Sum -> E, E::Sum;
    /// The cumulative product.
    RunningProduct by ops::mul, from 1.0, "cumprod", Product -> E, E::Sum;
    /// The cumulative log-sum-exp.
    RunningLogSumExp by AddingExponentials, from f64::NEG_INFINITY, "logcumsumexp", LogSumExp -> E, E;
}

/// Whether an element replaces the extreme so far: it is NaN, or the extreme is a number that it beats or equals.
#[inline(always)]
fn succeeds<C: Compute, const MAX: bool>(x: C, extreme: C) -> bool {
    let nan = |x: C| x.predicate::<ops::isnan>();
    let beats = if MAX { x.compare::<ops::ge>(extreme) } else { x.compare::<ops::le>(extreme) };
    nan(x) || (beats && !nan(extreme))
}

/// The largest (`MAX`) or smallest element so far, and its position: the last one of equals.
#[derive(Clone, Copy)]
pub(crate) struct RunningExtreme<const MAX: bool>;
impl<const MAX: bool> LaneSteps for RunningExtreme<MAX> {
    type Partial<C: Compute, I: Index> = (C, I);
    /// There is no value before the first element.
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
/// Marks the arm of an `if` as seldom taken, as `core::hint::cold_path` does, which is there from Rust 1.95 on.
#[cold]
#[inline(always)]
fn rarely() {}
impl<E: Dtype, const MAX: bool> LaneKernel<E, (E, i64)> for RunningExtreme<MAX> {
    const SLOPE: LaneSlope = LaneSlope::Extreme;
    const PRECOMPILED: Option<Precompiled> = Some(if MAX { Precompiled::RunningMax } else { Precompiled::RunningMin });
    type Scratch = ();
    fn lane(self, from: &[E], to: &mut [(E, i64)], (): &mut ()) {
        self.columns(&OneLane::new(from, to), &mut ());
    }
    const ALL_BY_COLUMNS: bool = true;
    /// The elements themselves are kept, not their compute type.
    #[inline(always)]
    fn columns(self, lanes: &impl LaneColumns<E, (E, i64)>, (): &mut ()) {
        let columns = lanes.columns();
        if lanes.has_dense_rows() && columns >= MIN_WIDE {
            let (mut extremes, mut places) = ([E::default(); MOST_COLUMNS], [0; MOST_COLUMNS]);
            let (extremes, places) = (&mut extremes[..columns], &mut places[..columns]);
            if lanes.rows() > 0 {
                lanes.see(0, |column, x| extremes[column] = x);
            }
            for (row, at) in (0..lanes.rows()).zip(0_i64..) {
                lanes.replace(row, |column, x| {
                    let succeeds = succeeds::<E::Compute, MAX>(x.to_compute(), extremes[column].to_compute());
                    extremes[column] = if succeeds { x } else { extremes[column] };
                    places[column] = if succeeds { at } else { places[column] };
                    (extremes[column], places[column])
                });
            }
            return;
        }
        let next = |extreme: (E, i64), x: E, at: usize| {
            if succeeds::<E::Compute, MAX>(x.to_compute(), extreme.0.to_compute()) {
                // A branch, because it is mostly predicted right; a select would wait for the comparison.
                rarely();
                (x, at as i64)
            } else {
                extreme
            }
        };
        // Whether no element of the block replaces the extreme: one comparison suffices. (No short circuit: all are compared at once.)
        let keeps = |(extreme, _): (E, i64), block: &[E; SCAN_BLOCK]| {
            let extreme = extreme.to_compute();
            block.iter().fold(true, |all, x| {
                let x = x.to_compute();
                all & if MAX { x.compare::<ops::lt>(extreme) } else { x.compare::<ops::gt>(extreme) }
            })
        };
        for column in 0..columns {
            lanes.descend_in_blocks(column, |first| (first, 0), next, |extreme| extreme, keeps);
        }
    }
    fn text(self) -> Record<RecordedLane> {
        let name = if MAX { "cummax" } else { "cummin" };
        Scan::of::<E, E>(name, E::DTYPE).with_positions().read(self).map(RecordedLane::Scan)
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
        // PyTorch's operand order: if both are -inf, the sum so far stays.
        ops::logaddexp::complex(b, a)
    }
}
