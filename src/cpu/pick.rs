//! `pick`, which assembles each axis of the result from segments of the operand's (flip, roll, pad, repeat), and `band` (`tril`, `triu`).
//! Compiled once per element size.

use super::blocks::{FillBytes, PickTask, pick_blocks};
use super::elementwise::{result_len, source};
use super::lines;
use super::reversing::{Backwards, GROUP, Repeating, Reversing, ReversingGroups};
use super::simd;
use super::threads::{self, Shared};
use crate::dtype::Element;
use crate::dtype::width::word_of_width;
use crate::error::Result;
use crate::ops::segment::Segment;
use crate::storage::{HostBuffer, View};
use std::borrow::Cow;

/// The size of an element, one that [`word_of_width`] supports.
const fn size<E: Element>() -> usize {
    const { assert!(size_of::<E>() <= 16 && size_of::<E>().is_power_of_two()) }
    size_of::<E>()
}

/// An axis of the result: its segments, and its strides in the source and in the result.
struct PickedAxis<'a> {
    segments: Cow<'a, [Segment]>,
    stride: usize,
    step: usize,
    /// Whether the axis and all inner ones are copied whole, so that consecutive positions are contiguous.
    runs_on: bool,
}

/// The outer axes of the result, which are assembled from segments; the inner ones, copied unchanged, form a block.
struct Picking<'a, T> {
    axes: Vec<PickedAxis<'a>>,
    block: usize,
    fill: T,
}

impl<T: Copy> Picking<'_, T> {
    /// Writes everything inside one position of the axes before `at`.
    ///
    /// # Safety
    /// `from` and `to` are the first elements of that position; every segment lies inside the source's axis.
    unsafe fn axis(&self, at: usize, from: *const T, mut to: *mut T) {
        let Some(PickedAxis { segments, stride, step, .. }) = self.axes.get(at) else {
            // SAFETY: the caller's promise.
            return unsafe { copy(from, to, self.block) };
        };
        let last = at + 1 == self.axes.len();
        for &segment in &**segments {
            // The result exists, so its number of positions does not overflow.
            let len = segment.positions().unwrap_or(0);
            if len == 0 {
                // An empty segment may start past the end of the axis.
                continue;
            }
            // SAFETY: the segment lies inside the axis, and the result has a place for each of its positions.
            unsafe {
                match segment {
                    Segment::Fill { len } => self.fill(at, len, to),
                    Segment::Forward { start, len } if last => {
                        self.positions(from.add(start * stride), *stride, len, to)
                    }
                    Segment::Forward { start, len } => match self.reversed_group(at) {
                        Some(group) => {
                            let from = from.add(start * stride);
                            simd::dispatch(ReversingGroups { from, stride: *stride, to, len: group, groups: len });
                        }
                        None => {
                            for i in 0..len {
                                self.axis(at + 1, from.add((start + i) * stride), to.add(i * step));
                            }
                        }
                    },
                    Segment::Backward { start, len } if last && self.block == 1 && *stride == 1 => {
                        simd::dispatch(Reversing { from: from.add(start + 1 - len), to, len });
                    }
                    Segment::Backward { start, len } if last && self.block == 1 => {
                        simd::dispatch(Backwards { from: from.add(start * stride), step: *stride, to, len });
                    }
                    Segment::Backward { start, len } if last => {
                        let (from, bytes) = (from.add(start * stride), self.block * size_of::<T>());
                        // Strides fit `isize`, as offsets inside of a buffer do.
                        let down = -((stride * size_of::<T>()) as isize);
                        lines::copy_blocks(to.cast(), from.cast(), down, bytes, len);
                    }
                    Segment::Backward { start, len } => {
                        for i in 0..len {
                            self.axis(at + 1, from.add((start - i) * stride), to.add(i * step));
                        }
                    }
                    Segment::Each { start, len, times } if last && self.block == 1 && (*stride == 1 || len == 1) => {
                        let from = from.add(start * stride);
                        // Constant repeat counts vectorise.
                        match times {
                            2 => simd::dispatch(Repeating::<T, 2> { from, to, len, times }),
                            4 => simd::dispatch(Repeating::<T, 4> { from, to, len, times }),
                            _ => simd::dispatch(Repeating::<T, 0> { from, to, len, times }),
                        }
                    }
                    Segment::Each { start, len, times } => {
                        for i in 0..len * times {
                            self.axis(at + 1, from.add((start + i / times) * stride), to.add(i * step));
                        }
                    }
                }
                to = to.add(len * step);
            }
        }
    }

    /// Number of elements inside a position of this axis, if they are few, contiguous, and all reversed.
    fn reversed_group(&self, at: usize) -> Option<usize> {
        let inner = self.axes.get(at + 1)?;
        let [Segment::Backward { start, len }] = inner.segments[..] else { return None };
        let is_few = at + 2 == self.axes.len() && self.block == 1 && inner.stride == 1 && len <= GROUP;
        (is_few && start + 1 == len && self.axes[at].step == len).then_some(len)
    }

    /// Copies `len` blocks, `stride` apart in the source.
    ///
    /// # Safety
    /// As for `axis`.
    unsafe fn positions(&self, from: *const T, stride: usize, len: usize, to: *mut T) {
        // SAFETY: the caller's promise.
        unsafe {
            if stride == self.block {
                copy(from, to, len * self.block);
            } else if self.block == 1 {
                lines::gather(size_of::<T>(), [1, len], to.cast(), from.cast(), [0, stride]);
            } else {
                let (step, bytes) = ((stride * size_of::<T>()) as isize, self.block * size_of::<T>());
                lines::copy_blocks(to.cast(), from.cast(), step, bytes, len);
            }
        }
    }

    /// Writes the fill value to `len` positions of an axis.
    ///
    /// # Safety
    /// As for `axis`.
    unsafe fn fill(&self, at: usize, len: usize, to: *mut T) {
        let PickedAxis { step, runs_on, .. } = &self.axes[at];
        // SAFETY: the caller's promise.
        unsafe {
            if *runs_on {
                for i in 0..len * step {
                    to.add(i).write_unaligned(self.fill);
                }
                return;
            }
            // Only inner axes are split among threads, so a block is written whole.
            let inner = self.axes[at + 1].segments.iter().filter_map(|segment| segment.positions()).sum();
            for i in 0..len {
                self.fill(at + 1, inner, to.add(i * step));
            }
        }
    }
}

/// Copies contiguous elements.
///
/// # Safety
/// There are `len` elements on both sides.
#[inline]
unsafe fn copy<T>(from: *const T, to: *mut T, len: usize) {
    // SAFETY: the caller's promise; bytes need no alignment.
    unsafe { lines::copy_short(to.cast::<u8>(), from.cast::<u8>(), len * size_of::<T>()) }
}

/// Copies the positions `low..high` of one axis of the result.
///
/// # Safety
/// The pointers are those of a source with these sizes and strides and of a row-major result with these counts, of elements of `T`'s size;
/// every segment is inside its axis.
unsafe fn pick_part<T: Copy>(task: &PickTask<'_>, axis: usize, low: usize, high: usize) {
    // SAFETY: there are 16 bytes, and any bits are a valid integer.
    let fill = unsafe { task.fill.0.as_ptr().cast::<T>().read_unaligned() };
    let mut axes: Vec<PickedAxis<'_>> = Vec::with_capacity(task.axes.len());
    let mut step = 1;
    let mut offset = 0;
    let whole = high - low == task.counts[axis];
    for at in (0..task.axes.len()).rev() {
        // A list may be as long as the axis, so it is not copied if all of it is used.
        let segments = if at == axis && !whole {
            Cow::Owned(Segment::range(&task.axes[at], low, high))
        } else {
            Cow::Borrowed(&task.axes[at][..])
        };
        if at == axis {
            offset = low * step;
        }
        axes.push(PickedAxis { segments, stride: task.strides[at], step, runs_on: whole || axis <= at });
        step *= task.counts[at];
    }
    // Inner axes that are copied unchanged form the block.
    let mut block = 1;
    let as_it_lies = |(at, picked): (usize, &PickedAxis<'_>)| {
        let size = task.sizes[task.sizes.len() - 1 - at];
        let whole = *picked.segments == [Segment::whole(size)] && (size == 1 || picked.stride == block);
        block *= if whole { size } else { 1 };
        whole
    };
    let inside = axes.iter().enumerate().map(as_it_lies).take_while(|&whole| whole).count();
    axes.drain(..inside);
    axes.reverse();
    // SAFETY: the caller's promise.
    unsafe { Picking { axes, block, fill }.axis(0, task.from.cast::<T>(), task.to.cast::<T>().add(offset)) }
}

/// Copies everything, on as many threads as pay off; there is at least one element.
///
/// # Safety
/// As for [`pick_part`].
unsafe fn pick_all(task: &PickTask<'_>) {
    // SAFETY: the caller's promise.
    if unsafe { pick_blocks(task) } {
        return;
    }
    let total: usize = task.counts.iter().product();
    let longest = (0..task.counts.len()).max_by_key(|&axis| (task.counts[axis], core::cmp::Reverse(axis))).unwrap_or(0);
    let length = task.counts[longest];
    let pieces = threads::pieces(total / 64 * 2 * task.size).min(length);
    let part = Shared(task);
    threads::for_each(pieces, &|piece| {
        let task = &part;
        let (low, high) = (length * piece / pieces, length * (piece + 1) / pieces);
        // SAFETY: the caller's promise. The parts cover the longest axis, and each writes its own.
        unsafe { word_of_width!(task.0.size, W => pick_part::<W>(task.0, longest, low, high)) }
    });
}

pub(crate) fn pick<E: Element>(a: View<'_, HostBuffer, E>, axes: &[Vec<Segment>], fill: E) -> Result<HostBuffer> {
    assert!(
        !axes.is_empty()
            && axes.len() == a.sizes.len()
            && axes.iter().zip(a.sizes).all(|(list, &size)| list.iter().all(|segment| segment.inside(size))),
        "segments lie inside their axes"
    );
    let count =
        |list: &Vec<Segment>| list.iter().try_fold(0_usize, |sum, segment| sum.checked_add(segment.positions()?));
    let counts: Vec<usize> = axes.iter().map(|list| count(list).unwrap_or(usize::MAX)).collect();
    let total = result_len(&counts)?;
    let mut bytes = [0; 16];
    // SAFETY: an element is at most 16 bytes (see `size`), all of them initialised: elements have no padding.
    unsafe {
        core::ptr::copy_nonoverlapping((&raw const fill).cast::<u8>(), bytes.as_mut_ptr(), size::<E>());
    }
    let from = source(&a).cast();
    // SAFETY: the segments lie inside their axes, and the task covers every place of the result.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut E| {
            let (sizes, strides, counts, to) = (a.sizes, a.strides, &counts[..], to.cast());
            if total > 0 {
                pick_all(&PickTask {
                    axes,
                    size: size::<E>(),
                    sizes,
                    strides,
                    counts,
                    from,
                    to,
                    fill: FillBytes(bytes),
                });
            }
            Ok(())
        })
    }
}

/// A batch of matrices to copy a band of.
struct Band {
    from: *const u8,
    to: *mut u8,
    /// Rows and columns of a matrix.
    sizes: [usize; 2],
    low: isize,
    high: isize,
}

/// Copies the band and zeros the rest.
///
/// # Safety
/// Both sides have elements of `size` bytes for all these rows.
unsafe fn band_rows(band: &Band, size: usize, rows: core::ops::Range<usize>) {
    let Band { from, to, sizes: [height, width], low, high } = *band;
    for row in rows {
        // Sizes fit `isize`.
        let at = (row % height) as isize;
        let column = |of: isize| at.saturating_add(of).clamp(0, width as isize) as usize;
        let first = column(low);
        let end = column(high.saturating_add(1)).max(first);
        let (start, first, end, len) = (row * width * size, first * size, end * size, width * size);
        // SAFETY: `first <= end <= len`, and the row is one of the caller's.
        unsafe {
            let (from, to) = (from.add(start), to.add(start));
            to.write_bytes(0, first);
            copy(from.add(first), to.add(first), end - first);
            to.add(end).write_bytes(0, len - end);
        }
    }
}

pub(crate) fn band<E: Element>(a: View<'_, HostBuffer, E>, low: isize, high: isize) -> Result<HostBuffer> {
    let total = result_len(a.sizes)?;
    let [.., height, width] = *a.sizes else { unreachable!("matrices have two axes") };
    debug_assert!(crate::layout::strides::is_contiguous(a.sizes, a.strides));
    let from = source(&a).cast::<u8>();
    // SAFETY: the pieces cover all rows, each of which is written whole. Zero bits are a valid element of every dtype.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut E| {
            if total > 0 {
                let rows = total / width;
                let pieces = threads::pieces(total / 64 * 2 * size_of::<E>()).min(rows);
                let band = Shared(Band { from, to: to.cast(), sizes: [height, width], low, high });
                threads::for_each(pieces, &|piece| {
                    let band = &band;
                    band_rows(&band.0, size_of::<E>(), rows * piece / pieces..rows * (piece + 1) / pieces);
                });
            }
            Ok(())
        })
    }
}
