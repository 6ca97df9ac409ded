//! Reads elements at indices: `gather`, `index_select`, `embedding`, `take`.

use super::copying;
use super::elementwise::result_len;
use super::indexing::{IndexMap, PART, RawView, out_of_range, without};
use super::lines;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::{Planes, Run, Walk};
use crate::dtype::Element;
use crate::dtype::width::loop_by_width;
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::VectorWidth;
use crate::storage::{HostBuffer, View};
use core::sync::atomic::{AtomicBool, Ordering};

/// Gathers along a walk: operand 0 is the result, 1 the indices, 2 the source. Returns whether all indices are in range; stops at the first
/// one that is not.
struct Gather<'a, W, const WRAPS: bool> {
    walk: &'a Walk<3>,
    places: IndexMap,
    to: *mut W,
    index: *const i64,
    from: *const W,
    /// Number of indices if they are contiguous: those of several short runs are checked at once.
    dense: usize,
}
/// Rows of prefetch distance.
const AHEAD: usize = 6;
impl<W: Copy, const WRAPS: bool> Loop for Gather<'_, W, WRAPS> {
    type Output = bool;
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) -> bool {
        let Gather { walk, places, to: first_to, index: first_index, from: first_from, dense } = self;
        // SAFETY: `gather_bytes` gives a walk inside the operands for every index in range; others are not followed. Elements are read and
        // written as bytes of any alignment.
        unsafe {
            let mut ahead = walk.runs();
            let mut next = ahead.nth(AHEAD);
            // The range of contiguous indices checked so far: a list that is reused is checked once.
            let mut known = 0..0;
            for run in walk.runs() {
                let (to, index) = (first_to.add(run.starts[0]), first_index.add(run.starts[1]));
                let from = first_from.add(run.starts[2]);
                if run.steps[1] == 0 {
                    if let Some(next) = next {
                        // The index is not checked yet, but prefetching an invalid address is harmless.
                        let at = places.place(first_index.add(next.starts[1]).read());
                        let row: *const u8 = first_from.wrapping_add(next.starts[2].wrapping_add(at)).cast();
                        for line in 0..(run.len * size_of::<W>()).div_ceil(64).min(16) {
                            simd::prefetch(row.wrapping_add(64 * line));
                        }
                    }
                    next = ahead.next();
                    if !places.hold(index, 0, 1) {
                        return false;
                    }
                    let from = from.add(places.place(index.read()));
                    if run.steps == [1, 0, 1] {
                        lines::copy_short(to.cast(), from.cast(), run.len * size_of::<W>());
                    } else {
                        for i in 0..run.len {
                            to.add(i * run.steps[0]).write_unaligned(from.add(i * run.steps[2]).read_unaligned());
                        }
                    }
                    continue;
                }
                // Indices are checked with vector instructions a few at a time, so that the loop below only reads and writes.
                let place = |index: i64| if WRAPS { places.position(index) as usize } else { index as usize };
                let (start, end) = (run.starts[1], run.starts[1] + run.len);
                let is_line = run.steps[1] == 1;
                let mut is_known = is_line && known.start <= start && end <= known.end;
                if is_line && !is_known && run.len < PART && end <= dense {
                    known = start..dense.min(start + PART);
                    places.prefetch_indices(index, known.len());
                    if !places.hold(index, 1, known.len()) {
                        return false;
                    }
                    is_known = true;
                }
                let mut first = 0;
                while first < run.len {
                    let end = run.len.min(first + PART);
                    if !is_known {
                        if is_line {
                            places.prefetch_indices(index.add(first), end - first);
                        }
                        if !places.hold(index.add(first * run.steps[1]), run.steps[1], end - first) {
                            return false;
                        }
                    }
                    match run.steps {
                        [1, 1, 0] if places.step == 1 => {
                            places.prefetch_next_lane(from, first, end - first);
                            for i in first..end {
                                to.add(i).write_unaligned(from.add(place(index.add(i).read())).read_unaligned());
                            }
                        }
                        steps => {
                            for i in first..end {
                                let at = place(index.add(i * steps[1]).read()) * places.step;
                                to.add(i * steps[0]).write_unaligned(from.add(i * steps[2] + at).read_unaligned());
                            }
                        }
                    }
                    first = end;
                }
                if is_line && !is_known {
                    known = start..end;
                }
            }
        }
        true
    }
}

/// Copies whole rows chosen by a list of indices, which is the most common gather.
struct Rows {
    /// Rows, and elements per row.
    sizes: [usize; 2],
    /// From row to row of the result, and from index to index.
    steps: [usize; 2],
    /// The first element of each operand.
    starts: [usize; 3],
}
impl Rows {
    /// Splits a walk that consists of nothing but such rows: one item for each position of the outer axes.
    #[inline(always)]
    fn of(walk: &Walk<3>) -> Option<impl Iterator<Item = Self>> {
        let Planes { outer, sizes, steps, is_tiled } = walk.planes();
        let first = walk.planes().outer.next()?;
        let rows = !is_tiled && steps[1] == [1, 0, 1] && first.steps[2] == 0 && first.len > 1;
        let of = move |run: Run<3>| Rows {
            sizes: [run.len, sizes[1]],
            steps: [run.steps[0], run.steps[1]],
            starts: run.starts,
        };
        rows.then(|| outer.map(of))
    }

    /// Copies the rows of elements of `width` bytes; returns whether all indices are in range, and stops at the first that is not.
    ///
    /// # Safety
    /// As for the walk that they come from, with the first elements of its operands.
    #[inline(always)]
    unsafe fn gather(
        self,
        width: usize,
        places: IndexMap,
        (to, index, from): (*mut u8, *const i64, *const u8),
    ) -> bool {
        let Rows { sizes: [rows, len], steps, starts } = self;
        let bytes = len * width;
        // SAFETY: the caller's promise; an index out of range is only prefetched, which is harmless for any address.
        unsafe {
            let (to, index, from) = (to.add(starts[0] * width), index.add(starts[1]), from.add(starts[2] * width));
            for row in 0..rows {
                if row + AHEAD < rows {
                    let at = places.place(index.add((row + AHEAD) * steps[1]).read());
                    let next = from.wrapping_add(at.wrapping_mul(width));
                    let mut line = 0;
                    while line < bytes.min(1024) {
                        simd::prefetch(next.wrapping_add(line));
                        line += 64;
                    }
                }
                let index = index.add(row * steps[1]);
                if !places.hold(index, 0, 1) {
                    return false;
                }
                let from = from.add(places.place(index.read()) * width);
                lines::copy_short(to.add(row * steps[0] * width), from, bytes);
            }
        }
        true
    }
}

/// Gathers along a walk that consists of nothing but whole rows, if it does: one loop for elements of all widths.
struct GatherRows<'a> {
    width: usize,
    walk: &'a Walk<3>,
    places: IndexMap,
    operands: (*mut u8, *const i64, *const u8),
}
impl Loop for GatherRows<'_> {
    type Output = Option<bool>;
    #[inline(always)]
    fn run(self) -> Option<bool> {
        let GatherRows { width, walk, places, operands } = self;
        for rows in Rows::of(walk)? {
            // SAFETY: as for `Gather`.
            if !unsafe { rows.gather(width, places, operands) } {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// Runs [`Gather`] along a walk; the flag says whether indices may be negative; then the result, the indices and the source.
///
/// # Safety
/// See [`Gather`]; the element width is the loop's.
type GatherWalk = unsafe fn(bool, &Walk<3>, IndexMap, (*mut u8, *const i64, *const u8), usize) -> bool;

unsafe fn gather_walk<W: Copy>(
    wraps: bool,
    walk: &Walk<3>,
    places: IndexMap,
    (to, index, from): (*mut u8, *const i64, *const u8),
    dense: usize,
) -> bool {
    let (to, from) = (to.cast::<W>(), from.cast::<W>());
    if wraps {
        simd::dispatch(Gather::<W, true> { walk, places, to, index, from, dense })
    } else {
        simd::dispatch(Gather::<W, false> { walk, places, to, index, from, dense })
    }
}
loop_by_width! { fn gather_walk_of -> GatherWalk: W => gather_walk::<W> }

/// The elements of `a` at the positions of the result, with the index in place of the position along the axis.
pub(crate) fn gather<E: Element>(
    indexing: Indexing,
    a: View<'_, HostBuffer, E>,
    index: View<'_, HostBuffer, i64>,
) -> Result<HostBuffer> {
    gather_bytes(indexing, (size_of::<E>(), gather_walk_of::<E>()), RawView::of(&a), index)
}

/// The operand's axes in the order of its strides, if whole rows are chosen from an operand transposed relative to the result: gathering
/// lines and then transposing the copy is faster.
fn rows_elsewhere(axis: usize, width: usize, a: RawView<'_>, index: &View<'_, HostBuffer, i64>) -> Option<Vec<usize>> {
    let (last, bytes) = (a.sizes.len() - 1, index.sizes.iter().product::<usize>().saturating_mul(width));
    let is_list = (0..=last).all(|at| at == axis || index.strides[at] == 0 || index.sizes[at] == 1);
    let row = (0..last).find(|&at| a.strides[at] == 1 && index.sizes[at] * width >= ROW)?;
    if !is_list || a.strides[last] <= 1 || index.sizes[last] < 2 || bytes < ACROSS {
        return None;
    }
    let mut axes: Vec<usize> = (0..=last).filter(|&at| at != row).collect();
    axes.sort_by_key(|&at| core::cmp::Reverse(a.strides[at]));
    axes.push(row);
    Some(axes)
}
/// Minimum line length in bytes, and minimum total bytes, for which the second copy pays off.
const ROW: usize = 64;
const ACROSS: usize = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 14 };

fn gather_bytes(
    indexing: Indexing,
    (width, gather_walk): (usize, GatherWalk),
    a: RawView<'_>,
    index: View<'_, HostBuffer, i64>,
) -> Result<HostBuffer> {
    let Some(axes) = rows_elsewhere(indexing.axis, width, a, &index) else {
        return gather_in_order(indexing, (width, gather_walk), a, index);
    };
    let in_order = |of: &[usize]| -> Vec<usize> { axes.iter().map(|&at| of[at]).collect() };
    let (sizes, strides) = (in_order(a.sizes), in_order(a.strides));
    let (index_sizes, index_strides) = (in_order(index.sizes), in_order(index.strides));
    let axis = axes.iter().position(|&at| at == indexing.axis).unwrap_or(indexing.axis);
    let ordered = RawView { start: a.start, sizes: &sizes, strides: &strides };
    let list = index.restrided(&index_sizes, &index_strides);
    let rows = gather_in_order(Indexing { axis, ..indexing }, (width, gather_walk), ordered, list).map_err(
        |error| match error {
            Error::IndexValue { op, index, size, .. } => Error::IndexValue { op, index, axis: indexing.axis, size },
            other => other,
        },
    )?;
    // Strides from each axis of the result to the next position in the gathered rows.
    let (own, mut steps) = (strides::row_major(&index_sizes), vec![0; axes.len()]);
    axes.iter().zip(own).for_each(|(&at, step)| steps[at] = step);
    let (len, result) = (result_len(index.sizes)?, strides::row_major(index.sizes));
    // SAFETY: the rows hold all elements of the result, and every place of it is written.
    unsafe {
        HostBuffer::filled_by(len * width, |to: *mut u8| {
            copying::copy_fresh(width, len, index.sizes, [&result, &steps], to, rows.start::<u8>());
            Ok(())
        })
    }
}

fn gather_in_order(
    indexing: Indexing,
    (width, gather_walk): (usize, GatherWalk),
    a: RawView<'_>,
    index: View<'_, HostBuffer, i64>,
) -> Result<HostBuffer> {
    let axis = indexing.axis;
    let len = result_len(index.sizes)?;
    let size = a.sizes[axis];
    assert!(index.sizes.iter().zip(a.sizes).enumerate().all(|(at, (index, a))| at == axis || index <= a));
    if len > 0 && size == 0 {
        return Err(out_of_range(indexing, index, size));
    }
    let bytes = len.checked_mul(width).ok_or_else(|| Error::TooLarge { op: indexing.op, sizes: index.sizes.into() })?;
    let strides = strides::row_major(index.sizes);
    let walk = Walk::new(index.sizes, [&strides, index.strides, &without(a.strides, axis)]);
    let places = IndexMap::new(indexing, &index, size, a.strides[axis]);
    let dense = if strides::is_contiguous(index.sizes, index.strides) { len } else { 0 };
    let fits = AtomicBool::new(true);
    let pieces = threads::pieces((bytes / 16).max(len / 2));
    let start = RawView::of(&index).start.cast::<i64>();
    // SAFETY: the walk visits each of the `len` places of the result once, unless an index is out of range; what it reaches from `a` and
    // the indices is inside their views: along the other axes the result is no larger than `a`.
    unsafe {
        HostBuffer::filled_by(bytes, |to: *mut u8| {
            if len == 0 {
                return Ok(());
            }
            let run = |walk: &Walk<3>, operands| {
                simd::dispatch(GatherRows { width, walk, places, operands })
                    .unwrap_or_else(|| gather_walk(indexing.wraps, walk, places, operands, dense))
            };
            if pieces == 1 {
                fits.store(run(&walk, (to, start, a.start)), Ordering::Relaxed);
            } else {
                let (parts, operands) = (walk.split(pieces, 1), Shared((to, start, a.start)));
                threads::for_each(parts.len(), &|part| {
                    let operands = &operands;
                    if !run(&parts[part], operands.0) {
                        fits.store(false, Ordering::Relaxed);
                    }
                });
            }
            if fits.load(Ordering::Relaxed) { Ok(()) } else { Err(out_of_range(indexing, index, size)) }
        })
    }
}
