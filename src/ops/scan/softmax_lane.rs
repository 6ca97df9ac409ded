//! `softmax` and `log_softmax` of one lane.

use crate::dtype::{Compute, Dtype};
use crate::error::Result;
use crate::ops;
use crate::ops::kernel::Precompiled;
use crate::ops::kernel::{LaneColumns, LaneKernel, LaneSlope};
use crate::ops::record::{lane::RecordedLane, reduce::Record, row::RecordedRow};
use crate::ops::reduce::rows::{Pass, RowSteps};
use crate::ops::reduce::{
    Accumulating, Extreme, Reducer, SUM_BLOCK, WIDTH, blocked_sum, in_whole_vectors, lanes_of_sum,
};
use crate::storage::ScratchList;

/// The rows of softmax in the table of operations along one axis.
macro_rules! softmax_lane_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            softmax { float same, Softmax::<false>,
                "`exp(x) / sum(exp(x))` along an axis, for floats. Computed without overflow.", "torch.softmax",
                "tensor![[0.0, 0.0], [1000.0, 0.0]]" axis "-1" = "[[0.5, 0.5], [1.0, 0.0]]",
                #[op(softmax(input, dim, dtype = None), dtypes = float, aliases("special.softmax", "nn.functional.softmax"))]
                fn dim [dtype] "-1, None" [empty] }
            log_softmax { float same, Softmax::<true>,
                "The logarithm of [`softmax`](Self::softmax) along an axis, for floats.", "torch.log_softmax",
                "tensor![[1000.0, 0.0]]" axis "-1" = "[[0.0, -1000.0]]",
                #[op(log_softmax(input, dim, dtype = None), dtypes = float, aliases("nn.functional.log_softmax", "special.log_softmax"))]
                fn dim [dtype] "-1, None" [empty] }
        } $($files)* }
    };
}
pub(crate) use softmax_lane_rows;

/// Exponentials stored before they are added up.
const BLOCK: usize = 1024;
/// Lanes computed together; maximum number of parts in which each is added up.
const COLUMNS: usize = 64;
const MOST_LANES: usize = lanes_of_sum(BLOCK);

/// `exp(x - max) / sum`, or its logarithm.
#[derive(Clone, Copy)]
pub(crate) struct Softmax<const LOG: bool>;
impl<const LOG: bool> Softmax<LOG> {
    /// An exponential divided by their sum, given its inverse.
    #[inline(always)]
    fn share<C: Compute>(exponential: C, inverse: C) -> C {
        exponential.binary::<ops::mul>(inverse)
    }
}
impl<const LOG: bool> RowSteps for Softmax<LOG> {
    /// The largest, then the inverse of the sum of exponentials relative to it, or its logarithm.
    const PASSES: &'static [Pass] = &[Pass::Largest, Pass::Sum];
    #[inline(always)]
    fn term<C: Compute>(self, pass: usize, x: C, [max, _]: [C; 2]) -> C {
        if pass == 0 { x } else { x.binary::<ops::sub>(max).unary::<ops::exp>() }
    }
    #[inline(always)]
    fn measured<C: Compute>(self, pass: usize, total: C, _: C, _: C) -> C {
        match (pass, LOG) {
            (0, _) => total,
            (_, true) => total.unary::<ops::log>(),
            (_, false) => total.unary::<ops::reciprocal>(),
        }
    }
    #[inline(always)]
    fn element<C: Compute>(self, measured: [C; 2], x: C, _: [Option<C>; 2]) -> C {
        if LOG {
            x.binary::<ops::sub>(measured[0]).binary::<ops::sub>(measured[1])
        } else {
            Self::share(self.term(1, x, measured), measured[1])
        }
    }
}
impl<const LOG: bool, E: Dtype> LaneKernel<E, E> for Softmax<LOG> {
    const SLOPE: LaneSlope = if LOG { LaneSlope::LogSoftmax } else { LaneSlope::Softmax };
    const PRECOMPILED: Option<Precompiled> = Some(if LOG { Precompiled::LogSoftmax } else { Precompiled::Softmax });
    /// The exponentials before division.
    type Scratch = ScratchList<E::Compute>;
    fn scratch(self, len: usize) -> Result<ScratchList<E::Compute>> {
        ScratchList::try_filled(E::Compute::default(), len + WIDTH)
    }
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E], exponentials: &mut ScratchList<E::Compute>) {
        if from.is_empty() {
            return;
        }
        let exponentials = &mut **exponentials;
        let none = E::Compute::default();
        let max = Reducer::<E>::block(Extreme::<E, true>::new(), from, 0);
        let exponential = |x: E| self.term(1, x.to_compute(), [max, none]);
        if LOG {
            in_whole_vectors(from, exponentials, exponential);
            let sum = blocked_sum(&exponentials[..from.len()], |&x| x);
            let log_sum = self.measured(1, sum, none, none);
            for (to, x) in to.iter_mut().zip(from) {
                *to = E::from_compute(self.element([max, log_sum], x.to_compute(), [None; 2]));
            }
        } else {
            let mut sum = none;
            for (at, block) in from.chunks(BLOCK).enumerate() {
                let kept = &mut exponentials[at * BLOCK..];
                in_whole_vectors(block, kept, exponential);
                sum = sum.binary::<Accumulating>(blocked_sum(&kept[..block.len()], |&x| x));
            }
            let inverse = self.measured(1, sum, none, none);
            for (to, &x) in to.iter_mut().zip(&*exponentials) {
                *to = E::from_compute(Self::share(x, inverse));
            }
        }
    }
    const TOGETHER: usize = COLUMNS;
    /// Adds in the same order as [`lane`](LaneKernel::lane).
    #[inline(always)]
    fn columns(self, lanes: &impl LaneColumns<E, E>, exponentials: &mut ScratchList<E::Compute>) {
        let exponentials = &mut **exponentials;
        let (rows, columns, none) = (lanes.rows(), lanes.columns(), E::Compute::default());
        let largest = Extreme::<E, true>::new();
        let mut max = [Reducer::<E>::start(largest); COLUMNS];
        let max = &mut max[..columns];
        for row in 0..rows {
            lanes.see(row, |column, x| max[column] = largest.accumulate(max[column], x, row));
        }
        let mut sums = [none; COLUMNS];
        let sums = &mut sums[..columns];
        let mut accumulators = [none; MOST_LANES * COLUMNS];
        let most = if LOG { SUM_BLOCK } else { BLOCK };
        for first in (0..rows).step_by(most) {
            let len = most.min(rows - first);
            let mut width = lanes_of_sum(if LOG { rows } else { len });
            let accumulators = &mut accumulators[..MOST_LANES * columns];
            accumulators[..width * columns].fill(none);
            for row in first..first + len {
                let at = (row - first) % width * columns;
                let accumulators = &mut accumulators[at..][..columns];
                if LOG {
                    lanes.see(row, |column, x| {
                        let exponential = self.term(1, x.to_compute(), [max[column], none]);
                        accumulators[column] = accumulators[column].binary::<Accumulating>(exponential);
                    });
                } else {
                    let kept = &mut exponentials[row * columns..][..columns];
                    lanes.see(row, |column, x| {
                        kept[column] = self.term(1, x.to_compute(), [max[column], none]);
                        accumulators[column] = accumulators[column].binary::<Accumulating>(kept[column]);
                    });
                }
            }
            while width > 1 {
                width /= 2;
                let (low, high) = accumulators.split_at_mut(width * columns);
                for (low, high) in low.iter_mut().zip(high) {
                    *low = low.binary::<Accumulating>(*high);
                }
            }
            for (sum, accumulated) in sums.iter_mut().zip(&*accumulators) {
                *sum = sum.binary::<Accumulating>(*accumulated);
            }
        }
        for sum in &mut *sums {
            *sum = self.measured(1, *sum, none, none);
        }
        for row in 0..rows {
            if LOG {
                lanes.replace(row, |column, x| {
                    E::from_compute(self.element([max[column], sums[column]], x.to_compute(), [None; 2]))
                });
            } else {
                let kept = &exponentials[row * columns..][..columns];
                lanes.replace(row, |column, _| E::from_compute(Self::share(kept[column], sums[column])));
            }
        }
    }
    fn text(self) -> Record<RecordedLane> {
        let name = if LOG { "log_softmax" } else { "softmax" };
        RecordedRow::of::<E, _>(name, self).map(RecordedLane::Row)
    }
}
