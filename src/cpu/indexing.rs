//! Shared by `gather`, `scatter` and similar operations: indices to offsets, and elements as untyped memory, so that loops that only move
//! them are compiled once per element size.

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

/// The strides, with 0 for the indexed axis.
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

/// Indices are checked and followed in parts of this length; the next part is prefetched in between.
pub(super) const PART: usize = 64;

/// Prefetch distance in bytes: beyond the end of a page, where the hardware prefetcher stops.
const AHEAD: usize = 4096;

/// From this many indices on, a list no longer fits the cache.
const MANY: usize = 1 << 12;

/// Longest lane whose successor is prefetched: it must stay in the caches until used.
const LANE: i64 = 1 << 14;

/// Calls `part` with the bounds of each part of a run.
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
    /// Whether the list of indices exceeds the cache: a short one is still cached when it is reused.
    are_many: bool,
}
impl IndexMap {
    /// For these indices along an axis of this size and stride.
    pub(super) fn new(indexing: Indexing, index: &View<'_, HostBuffer, i64>, size: usize, step: usize) -> Self {
        // Only a broadcast axis can be longer than `i64::MAX`.
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let are_many = without_repeats(index.sizes, index.strides).iter().product::<usize>() >= MANY;
        IndexMap { wrap: if indexing.wraps { size } else { 0 }, size, step, are_many }
    }
    /// Prefetches the indices some parts ahead of these, which are contiguous. The addresses need not be valid.
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
    /// The offset of an index; meaningless if the index is out of range.
    #[inline(always)]
    pub(super) fn place(self, index: i64) -> usize {
        (self.position(index) as usize).wrapping_mul(self.step)
    }
    /// Prefetches the elements of the next lane (assumed adjacent) at the positions of one part of this lane's indices.
    #[inline(always)]
    pub(super) fn prefetch_next_lane<T>(self, lane: *const T, low: usize, len: usize) {
        if self.size <= LANE && (low as i64) < self.size {
            simd::prefetch_steps(lane.wrapping_add(self.size as usize + low).cast(), len * size_of::<T>(), 1);
        }
    }
    /// Whether all of these indices are in range. Branch-free: ors the sign bits of each position and of its distance to the last position.
    ///
    /// # Safety
    /// All of these are valid places of indices.
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
