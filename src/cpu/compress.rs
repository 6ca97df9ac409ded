//! Elements, or positions, selected by a mask: `masked_select` and `nonzero`.
//!
//! Compiled once for each size of element.

use super::indexing::RawView;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::dtype::width::loop_by_width;
use crate::error::{Result, listed, room};
use crate::storage::{HostBuffer, View};

/// Counts the true values among `len` bools, `step` apart.
pub(super) struct CountTrue {
    pub(super) mask: *const u8,
    pub(super) step: usize,
    pub(super) len: usize,
}
/// Bools counted in parallel.
const LANES: usize = 64;
impl Loop for CountTrue {
    type Output = usize;
    #[inline(always)]
    fn run(self) -> usize {
        let CountTrue { mask, step, len } = self;
        if step != 1 {
            // SAFETY: the walk gave places of the view.
            return (0..len).map(|i| usize::from(unsafe { mask.add(i * step).read() })).sum();
        }
        // SAFETY: `len` bools are contiguous; a bool is a byte, 0 or 1.
        let mask = unsafe { core::slice::from_raw_parts(mask, len) };
        let (chunks, rest) = mask.as_chunks::<LANES>();
        let mut count = rest.iter().map(|&one| usize::from(one)).sum();
        // A byte counts up to 255, so the lanes are summed before that.
        for chunks in chunks.chunks(255) {
            let mut counts = [0_u8; LANES];
            for chunk in chunks {
                for (count, one) in counts.iter_mut().zip(chunk) {
                    *count += one;
                }
            }
            count += counts.iter().map(|&count| usize::from(count)).sum::<usize>();
        }
        count
    }
}

/// Writes the `count` selected elements contiguously.
struct CompressRun<W> {
    from: *const W,
    mask: *const u8,
    steps: [usize; 2],
    to: *mut W,
    count: usize,
}
impl<W: Copy> Loop for CompressRun<W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let CompressRun { from, mask, steps, to, count } = self;
        let (mut written, mut i) = (0, 0);
        // Branch-free: every element is written, and overwritten by the next one if the mask does not select it. The loop ends at the last
        // selected element, so nothing is written past the end. SAFETY: while selected elements remain, `i` is inside the view and
        // `written` is below `count`.
        unsafe {
            if steps == [1, 1] {
                while written < count {
                    to.add(written).write_unaligned(from.add(i).read_unaligned());
                    written += usize::from(mask.add(i).read());
                    i += 1;
                }
            } else {
                while written < count {
                    to.add(written).write_unaligned(from.add(i * steps[0]).read_unaligned());
                    written += usize::from(mask.add(i * steps[1]).read());
                    i += 1;
                }
            }
        }
    }
}

/// [`CompressRun`] of a part: the starts of the elements, the mask and the result.
///
/// # Safety
/// See [`CompressRun`]; the element width is the loop's.
type CompressLoop = unsafe fn(&CompressPart, (*const u8, *const u8, *mut u8));

unsafe fn compress_part<W: Copy>(part: &CompressPart, (from, mask, to): (*const u8, *const u8, *mut u8)) {
    let CompressPart { starts, steps, first, count, .. } = *part;
    // SAFETY: the caller's promise.
    let (from, mask, to) = unsafe { (from.cast::<W>().add(starts[0]), mask.add(starts[1]), to.cast::<W>().add(first)) };
    simd::dispatch(CompressRun { from, mask, steps, to, count });
}
loop_by_width! { fn compress_part_of -> CompressLoop: W => compress_part::<W> }

/// The selected elements in row-major order, and their number. The mask has the sizes of `a`.
pub(crate) fn compress<E: Element>(
    a: View<'_, HostBuffer, E>,
    mask: View<'_, HostBuffer, bool>,
) -> Result<(HostBuffer, usize)> {
    compress_bytes((size_of::<E>(), compress_part_of::<E>()), RawView::of(&a), RawView::of(&mask))
}

fn compress_bytes(
    (width, compress_part): (usize, CompressLoop),
    a: RawView<'_>,
    mask: RawView<'_>,
) -> Result<(HostBuffer, usize)> {
    assert_eq!(a.sizes, mask.sizes);
    let len: usize = a.sizes.iter().product();
    let walk = Walk::row_major(a.sizes, [a.strides, mask.strides]);
    let mut parts: Vec<CompressPart>;
    match walk.line_run() {
        // A single run is split among threads; several are handed out whole.
        Some(run) => {
            let pieces = threads::pieces(len);
            let bounds = |piece: usize| run.len / pieces * piece + run.len % pieces * piece / pieces;
            parts = listed((0..pieces).map(|piece| {
                let (low, high) = (bounds(piece), bounds(piece + 1));
                let starts = [run.starts[0] + low * run.steps[0], run.starts[1] + low * run.steps[1]];
                CompressPart { starts, steps: run.steps, len: high - low, first: 0, count: 0 }
            }))?;
        }
        None => {
            // All runs have the same length.
            parts = room(walk.runs().next().map_or(0, |run| len / run.len))?;
            for run in walk.runs() {
                parts.push(CompressPart { starts: run.starts, steps: run.steps, len: run.len, first: 0, count: 0 });
            }
        }
    }
    let pieces = threads::pieces(len).min(parts.len());
    let bounds = |piece: usize| parts.len() * piece / pieces.max(1);
    let from = Shared((a.start, mask.start));
    let counts = listed(parts.iter().map(|_| core::sync::atomic::AtomicUsize::default()))?;
    threads::for_each(pieces, &|piece| {
        let from = &from;
        for part in bounds(piece)..bounds(piece + 1) {
            let CompressPart { starts, steps, len, .. } = parts[part];
            // SAFETY: the walk stays inside the mask.
            let mask = unsafe { from.0.1.add(starts[1]) };
            let count = simd::dispatch(CountTrue { mask, step: steps[1], len });
            counts[part].store(count, core::sync::atomic::Ordering::Relaxed);
        }
    });
    let mut total = 0;
    for (part, count) in parts.iter_mut().zip(counts) {
        (part.first, part.count) = (total, count.into_inner());
        total += part.count;
    }
    let bounds = |piece: usize| parts.len() * piece / pieces.max(1);
    // SAFETY: each part writes its `count` places starting at `first`; together the parts cover the result.
    let buffer = unsafe {
        HostBuffer::filled_by(total.saturating_mul(width), |to: *mut u8| {
            let places = Shared((a.start, mask.start, to));
            threads::for_each(pieces, &|piece| {
                let places = &places;
                parts[bounds(piece)..bounds(piece + 1)].iter().for_each(|part| compress_part(part, places.0));
            });
            Ok(())
        })?
    };
    Ok((buffer, total))
}

/// A part of one run, and where its selected elements go.
#[derive(Clone, Copy)]
struct CompressPart {
    starts: [usize; 2],
    steps: [usize; 2],
    len: usize,
    first: usize,
    count: usize,
}
