//! Following indices: what an index leads to, and elements as bytes, so that loops that only move them are compiled once for
//! each size of element. Uses storage; used by `gather`, `scatter` and their kin.

use super::elementwise::source;
use crate::dtype::Element;
use crate::error::Error;
use crate::ops::arguments::Indexing;
use crate::storage::{HostBuffer, View};

/// Runs code with a type of as many bytes as an element has, and of no stricter alignment than any such element: that of the
/// parts of a complex number.
macro_rules! by_width {
    ($width:expr, $word:ident => $run:expr) => {
        match $width {
            1 => {
                type $word = u8;
                $run
            }
            2 => {
                type $word = u16;
                $run
            }
            4 => {
                type $word = [u16; 2];
                $run
            }
            8 => {
                type $word = [u32; 2];
                $run
            }
            16 => {
                type $word = [u64; 2];
                $run
            }
            _ => unreachable!("elements have 1, 2, 4, 8 or 16 bytes"),
        }
    };
}
pub(super) use by_width;

/// A view's elements as bytes: what they are is forgotten, how many bytes each has is kept beside.
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

/// Strides with 0 for one axis, along which the indices lead.
pub(super) fn without(strides: &[usize], axis: usize) -> Vec<usize> {
    strides.iter().enumerate().map(|(at, &stride)| if at == axis { 0 } else { stride }).collect()
}

/// What an index outside of the axis is reported as.
#[cold]
pub(super) fn out_of_range(indexing: Indexing, index: View<'_, HostBuffer, i64>, size: usize) -> Error {
    let fits = |index: i64| index < size as i64 && (index >= 0 || (indexing.wraps && index >= -(size as i64)));
    let index = super::elementwise::find(index, |index| !fits(index)).unwrap_or_default();
    Error::IndexValue { op: indexing.op, index, axis: indexing.axis, size }
}

/// How an index becomes a place: negative ones count from the end if `wrap` is the size.
#[derive(Clone, Copy)]
pub(super) struct IndexMap {
    wrap: i64,
    pub(super) size: i64,
    /// From one place to the next.
    pub(super) step: usize,
}
impl IndexMap {
    pub(super) fn new(indexing: Indexing, size: usize, step: usize) -> Self {
        // No axis of a tensor that exists is longer than `i64` counts, unless it repeats one element.
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        IndexMap { wrap: if indexing.wraps { size } else { 0 }, size, step }
    }
    /// The index counted from the first.
    #[inline(always)]
    pub(super) fn position(self, index: i64) -> i64 {
        index.wrapping_add((index >> 63) & self.wrap)
    }
    /// The place of an index; anything, if it is out of range.
    #[inline(always)]
    pub(super) fn place(self, index: i64) -> usize {
        (self.position(index) as usize).wrapping_mul(self.step)
    }
    /// Whether some indices are in range. Without a branch for each: the sign of a number says whether it is negative, that of
    /// its distance from the last whether it is beyond.
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
