//! Binary search in sorted lanes: `searchsorted`, `bucketize`.

use super::elementwise::result_len;
use super::indexing::RawView;
use super::keys::loop_by_dtype;
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::strides;
use crate::storage::{HostBuffer, View};
use core::hint::select_unpredictable;

/// The lower bound of each value in its lane of `sorted` (along the last axis), or the upper bound if `right`. The leading sizes are equal;
/// `sorted` may have stride 0 there.
pub(crate) fn search<E: Element>(
    sorted: View<'_, HostBuffer, E>,
    values: View<'_, HostBuffer, E>,
    right: bool,
) -> Result<HostBuffer> {
    search_lanes(search_walk_of::<E>(), RawView::of(&sorted), RawView::of(&values), right)
}

/// Source: `aten/src/ATen/native/Bucketization.cpp`, `cus_lower_bound` and `cus_upper_bound`. The comparisons are the same, because they
/// decide where NaN goes.
#[inline(always)]
fn position<T: PartialOrd + Copy>(len: usize, get: impl Fn(usize) -> T, value: T, right: bool) -> usize {
    // Branch-free: the branches would be mispredicted half of the time.
    let (mut start, mut left) = (0, len);
    while left > 0 {
        let half = left / 2;
        let middle = get(start + half);
        let stops = if right { middle > value } else { middle >= value };
        start = if stops { start } else { start + half + 1 };
        left = if stops { half } else { left - half - 1 };
    }
    start
}

/// Number of values searched for at once, so that their cache misses overlap.
const TOGETHER: usize = 8;

/// The same for several values in one lane. The number of steps depends on the length only, so no branch is mispredicted.
#[inline(always)]
fn positions<T: PartialOrd + Copy>(
    len: usize,
    get: impl Fn(usize) -> T,
    values: [T; TOGETHER],
    right: bool,
) -> [usize; TOGETHER] {
    if right {
        positions_where(len, get, values, |middle, value| middle > value)
    } else {
        positions_where(len, get, values, |middle, value| middle >= value)
    }
}

/// The first position for each value whose element satisfies `stops`.
#[inline(always)]
fn positions_where<T: Copy>(
    len: usize,
    get: impl Fn(usize) -> T,
    values: [T; TOGETHER],
    stops: impl Fn(T, T) -> bool,
) -> [usize; TOGETHER] {
    let (mut starts, mut lefts) = ([0; TOGETHER], [len; TOGETHER]);
    // Each step leaves half of the range, or one less; nothing is found before the last step.
    for _ in 1..usize::BITS - len.leading_zeros() {
        for ((start, left), &value) in starts.iter_mut().zip(&mut lefts).zip(&values) {
            let half = *left / 2;
            let stops = stops(get(*start + half), value);
            *start = select_unpredictable(stops, *start, *start + half + 1);
            *left = select_unpredictable(stops, half, *left - half - 1);
        }
    }
    // The last step, over one element or none: a value already found reads an element again, harmlessly.
    for ((start, left), &value) in starts.iter_mut().zip(&lefts).zip(&values) {
        let passes = (*left == 1) & !stops(get((*start).min(len - 1)), value);
        *start += usize::from(passes);
    }
    starts
}

/// Runs the searches of a walk over results, values and lanes, given the length and step of a lane, and whether upper bounds are wanted.
///
/// # Safety
/// The walk stays inside all three, whose elements are of the loop's dtype.
type SearchWalk = unsafe fn(&Walk<3>, [usize; 2], bool, (*mut i64, *const u8, *const u8));

unsafe fn search_walk<T: PartialOrd + Copy>(
    walk: &Walk<3>,
    [len, step]: [usize; 2],
    right: bool,
    (to, values, sorted): (*mut i64, *const u8, *const u8),
) {
    let (values, sorted) = (values.cast::<T>(), sorted.cast::<T>());
    // SAFETY: the caller's promise.
    unsafe {
        for run in walk.runs() {
            let mut first = 0;
            if len > 0 && run.steps[2] == 0 {
                let lane = sorted.add(run.starts[2]);
                while first + TOGETHER <= run.len {
                    let [to_step, step_of_values, _] = run.steps;
                    let some =
                        core::array::from_fn(|i| values.add(run.starts[1] + (first + i) * step_of_values).read());
                    let found = positions(len, |at| lane.add(at * step).read(), some, right);
                    for (i, found) in found.into_iter().enumerate() {
                        to.add(run.starts[0] + (first + i) * to_step).write(found as i64);
                    }
                    first += TOGETHER;
                }
            }
            for i in first..run.len {
                let lane = sorted.add(run.starts[2] + i * run.steps[2]);
                let value = values.add(run.starts[1] + i * run.steps[1]).read();
                let found = position(len, |at| lane.add(at * step).read(), value, right);
                to.add(run.starts[0] + i * run.steps[0]).write(found as i64);
            }
        }
    }
}
loop_by_dtype! { fn search_walk_of -> SearchWalk: T => search_walk::<T> }

fn search_lanes(search_walk: SearchWalk, sorted: RawView<'_>, values: RawView<'_>, right: bool) -> Result<HostBuffer> {
    let last = sorted.sizes.len() - 1;
    let (len, step) = (sorted.sizes[last], sorted.strides[last]);
    assert!(values.sizes.len() == sorted.sizes.len() && values.sizes[..last] == sorted.sizes[..last]);
    let total = result_len(values.sizes)?;
    let strides = strides::row_major(values.sizes);
    let mut lanes = sorted.strides.to_vec();
    lanes[last] = 0;
    let walk = Walk::new(values.sizes, [&strides, values.strides, &lanes]);
    let pieces = threads::pieces(total.saturating_mul(4 * (usize::BITS - len.leading_zeros()) as usize));
    // SAFETY: the walk visits each place of the result once and stays inside the views.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut i64| {
            let (parts, places) = (walk.split(pieces, 1), Shared((to, values.start, sorted.start)));
            threads::for_each(parts.len(), &|part| {
                let places = &places;
                search_walk(&parts[part], [len, step], right, places.0);
            });
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batched search takes the same steps, which matters where there are NaNs.
    #[test]
    fn values_are_found_together_where_each_is_found_alone() {
        for len in 1..40_usize {
            let mut sorted: Vec<f32> = (0..len).map(|at| (at / 3) as f32).collect();
            for nans in 0..2 {
                for last in sorted.iter_mut().rev().take(nans * 2) {
                    *last = f32::NAN;
                }
                for right in [false, true] {
                    for start in 0..8 {
                        let mut values: [f32; TOGETHER] =
                            core::array::from_fn(|at| (start + 2 * at) as f32 / 2.0 - 1.0);
                        values[3] = f32::NAN;
                        let alone = values.map(|value| position(len, |at| sorted[at], value, right));
                        assert_eq!(positions(len, |at| sorted[at], values, right), alone, "{len} {nans} {right}");
                    }
                }
            }
        }
    }
}
