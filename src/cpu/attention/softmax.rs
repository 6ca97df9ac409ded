//! The softmax of rows that arrive block by block: a running maximum and a running sum.
//!
//! Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax".

use crate::cpu::simd::Loop;
use crate::dtype::{Compute, Dtype, MachineFloat, Unary, math};
use crate::ops;
use crate::ops::reduce::{Accumulating, ExtremeOfTwo};

/// Parallel partial sums.
pub(super) const LANES: usize = 16;

/// One block of the scores of some rows: replaces each with the exponential of its distance to the largest score so far. Sums accumulated
/// under a smaller maximum are rescaled.
pub(super) struct OnlineSoftmax<C> {
    /// The first row, and the row stride; each row has `count` scores, and room for a multiple of [`LANES`].
    pub(super) scores: *mut C,
    pub(super) step: usize,
    pub(super) rows: usize,
    pub(super) count: usize,
    /// For each row: the largest score so far, the sum of exponentials, and the `width` sums of values.
    pub(super) largest: *mut C,
    pub(super) totals: *mut C,
    pub(super) sums: *mut C,
    pub(super) width: usize,
}

/// The exponential of a score's distance to the largest one.
pub(super) struct Exponential;
impl Unary for Exponential {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        T::elementary::<math::ExpFlushed>(x)
    }
}

/// Reduces all lanes to one by halving, which has shorter dependency chains than lane after lane.
#[inline(always)]
fn combined<C: Copy>(lanes: [C; LANES], call: impl Fn(C, C) -> C) -> C {
    // (Arrays of these sizes stay in registers.)
    let eight: [C; LANES / 2] = core::array::from_fn(|at| call(lanes[at], lanes[at + LANES / 2]));
    let four: [C; LANES / 4] = core::array::from_fn(|at| call(eight[at], eight[at + LANES / 4]));
    let two: [C; LANES / 8] = core::array::from_fn(|at| call(four[at], four[at + LANES / 8]));
    call(two[0], two[1])
}

impl<C: Compute> Loop for OnlineSoftmax<C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let lowest = C::number(f64::NEG_INFINITY);
        // Whole vectors only: the padding contributes nothing.
        let filled = self.count.next_multiple_of(LANES);
        for row in 0..self.rows {
            // SAFETY: `attend` makes it with room for these rows and columns.
            let (scores, largest, total) = unsafe {
                let scores = self.scores.add(row * self.step);
                (self.count..filled).for_each(|at| scores.add(at).write(lowest));
                (
                    core::slice::from_raw_parts_mut(scores, filled),
                    &mut *self.largest.add(row),
                    &mut *self.totals.add(row),
                )
            };
            let larger = |a: C, b: C| a.binary::<ExtremeOfTwo<true>>(b);
            let mut lanes = [lowest; LANES];
            for chunk in scores.chunks_exact(LANES) {
                lanes.iter_mut().zip(chunk).for_each(|(lane, &score)| *lane = larger(*lane, score));
            }
            let max = larger(*largest, combined(lanes, larger));
            if max == lowest {
                // Every key is masked: no contributions.
                scores.fill(C::default());
                continue;
            }
            let below = |score: C| score.binary::<ops::sub>(max).unary::<Exponential>();
            let mut lanes = [C::default(); LANES];
            for chunk in scores.chunks_exact_mut(LANES) {
                for (lane, score) in lanes.iter_mut().zip(chunk) {
                    *score = below(*score);
                    *lane = lane.binary::<Accumulating>(*score);
                }
            }
            if *largest != max {
                // (Before the first score there is nothing to rescale.)
                if *largest != lowest {
                    let factor = below(*largest);
                    *total = total.binary::<ops::mul>(factor);
                    // SAFETY: as above; a score was visible in an earlier block, so the sums are initialised.
                    let sums = unsafe { core::slice::from_raw_parts_mut(self.sums.add(row * self.width), self.width) };
                    sums.iter_mut().for_each(|sum| *sum = sum.binary::<ops::mul>(factor));
                }
                *largest = max;
            }
            *total = total.binary::<Accumulating>(combined(lanes, |a, b| a.binary::<Accumulating>(b)));
        }
    }
}

/// The result: sums of values divided by the sums of exponentials; zeros where every key is masked.
pub(super) struct Divide<E: Dtype> {
    pub(super) sums: *const E::Compute,
    pub(super) step: usize,
    pub(super) totals: *const E::Compute,
    /// Row-major, of these sizes.
    pub(super) out: *mut E,
    pub(super) sizes: [usize; 2],
}
impl<E: Dtype> Loop for Divide<E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let one = E::Compute::number(1.0);
        let [rows, columns] = self.sizes;
        for row in 0..rows {
            // SAFETY: as for `OnlineSoftmax`; the sums are written, and the result has room for them.
            unsafe {
                let total = self.totals.add(row).read();
                let factor = if total == E::Compute::default() { one } else { one.binary::<ops::div>(total) };
                let (sums, out) = (self.sums.add(row * self.step), self.out.add(row * columns));
                for at in 0..columns {
                    out.add(at).write(E::from_compute(sums.add(at).read().binary::<ops::mul>(factor)));
                }
            }
        }
    }
}
