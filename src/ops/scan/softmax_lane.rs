//! `softmax` and its logarithm, of one lane.
//! Uses `ops::reduce`.

use crate::dtype::{Compute, Dtype};
use crate::error::{Result, filled};
use crate::ops;
use crate::ops::kernel::LaneKernel;
use crate::ops::reduce::{Accumulating, Extreme, Reducer, blocked_sum};

/// Exponentials that are kept before they are added up.
const BLOCK: usize = 1024;

/// `exp(x - max) / sum`, or its logarithm.
#[derive(Clone, Copy)]
pub(crate) struct Softmax<const LOG: bool>;
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
