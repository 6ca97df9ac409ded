//! What `gather`, `scatter` and their kin share: indices to offsets, and elements as untyped memory, so that loops
//! that only move them are compiled once for each size of element.
//!
//! Uses storage; used by `gather`, `scatter`, `compress`, `order` and `search`.

use super::elementwise::source;
use super::read::without_repeats;
use super::simd;
use crate::dtype::Element;
use crate::error::Error;
use crate::ops::arguments::Indexing;
use crate::storage::{HostBuffer, View};

/// A view whose element type is erased.
#[derive(Clone, Copy)]
pub(super) struct RawView<'a> {
    pub(super) start: *const u8,
    pub(super) sizes: &'a [usize],
    /// In elements.
    pub(super) strides: &'a [usize],
}
impl<'a> RawView<'a> {
    pub(super) fn of<E: Element>(view: &View<'a, HostBuffer, E>) -> Self {
        RawView { start: source(view).cast(), sizes: view.sizes, strides: view.strides }
    }
}

/// Strides with 0 for the indexed axis.
pub(super) fn without(strides: &[usize], axis: usize) -> Vec<usize> {
    strides.iter().enumerate().map(|(at, &stride)| if at == axis { 0 } else { stride }).collect()
}

/// The error for an index out of range.
#[cold]
pub(super) fn out_of_range(indexing: Indexing, index: View<'_, HostBuffer, i64>, size: usize) -> Error {
    let fits = |index: i64| index < size as i64 && (index >= 0 || (indexing.wraps && index >= -(size as i64)));
    let index = super::read::find(index, |index| !fits(index)).unwrap_or_default();
    Error::IndexValue { op: indexing.op, index, axis: indexing.axis, size }
}

/// Indices are checked and followed so many at a time, between which what comes next is prefetched.
pub(super) const PART: usize = 64;

/// How many bytes ahead: past the end of a page, where the processor's own prefetching stops.
const AHEAD: usize = 4096;

/// So many indices fill a cache.
const MANY: usize = 1 << 12;

/// The elements of a lane at most whose successor is prefetched: it stays in the caches until then.
const LANE: i64 = 1 << 14;

/// Calls `part` with the ends of each part of a run.
#[inline(always)]
pub(super) fn in_parts(len: usize, mut part: impl FnMut(usize, usize)) {
    let mut low = 0;
    while low < len {
        let high = len.min(low + PART);
        part(low, high);
        low = high;
    }
}

/// Converts indices to offsets: negative ones count from the end if `wrap` is the axis's size.
#[derive(Clone, Copy)]
pub(super) struct IndexMap {
    wrap: i64,
    pub(super) size: i64,
    /// The stride of the axis.
    pub(super) step: usize,
    /// Whether there are more indices than a cache holds: a short list is there when it is read again.
    are_many: bool,
}
impl IndexMap {
    /// Of these indices along an axis of this size and stride.
    pub(super) fn new(indexing: Indexing, index: &View<'_, HostBuffer, i64>, size: usize, step: usize) -> Self {
        // An axis longer than `i64::MAX` can only be a broadcast one.
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let are_many = without_repeats(index.sizes, index.strides).iter().product::<usize>() >= MANY;
        IndexMap { wrap: if indexing.wraps { size } else { 0 }, size, step, are_many }
    }
    /// Prefetches what comes some parts after these indices, which are contiguous. The addresses need not be valid.
    #[inline(always)]
    pub(super) fn prefetch_indices(self, index: *const i64, len: usize) {
        if self.are_many {
            simd::prefetch_steps(index.cast::<u8>().wrapping_add(AHEAD), len * size_of::<i64>(), 1);
        }
    }
    /// The index counted from the start.
    #[inline(always)]
    pub(super) fn position(self, index: i64) -> i64 {
        index.wrapping_add((index >> 63) & self.wrap)
    }
    /// The offset of an index; meaningless if it is out of range.
    #[inline(always)]
    pub(super) fn place(self, index: i64) -> usize {
        (self.position(index) as usize).wrapping_mul(self.step)
    }
    /// Prefetches what the next lane, if it follows this one, has at the positions that a part of this one's indices stand at.
    #[inline(always)]
    pub(super) fn prefetch_next_lane<T>(self, lane: *const T, low: usize, len: usize) {
        if self.size <= LANE && (low as i64) < self.size {
            simd::prefetch_steps(lane.wrapping_add(self.size as usize + low).cast(), len * size_of::<T>(), 1);
        }
    }
    /// Whether all of these indices are in range. Branch-free: the sign bits of the position and of its distance to
    /// the last position are or-ed together.
    ///
    /// # Safety
    /// These are places of indices.
    #[inline(always)]
    pub(super) unsafe fn hold(self, index: *const i64, step: usize, len: usize) -> bool {
        let mut outside = 0;
        let mut look = |index: i64| {
            let position = self.position(index);
            outside |= position | (self.size - 1).wrapping_sub(position);
        };
        // SAFETY: the caller's promise.
        unsafe {
            if step == 1 {
                (0..len).for_each(|i| look(index.add(i).read()));
            } else {
                (0..len).for_each(|i| look(index.add(i * step).read()));
            }
        }
        outside >= 0
    }
}
