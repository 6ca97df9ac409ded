//! Copies of strided elements, generic over the element size only. Transposed operands are copied tile by tile.

use super::engine::{self, Body};
use super::lines::{CopyLines, copy_strided_as};
use super::non_temporal::{self, Staging};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::tiles::{TransposeLoop, TransposeTile};
use super::walk::{Run, Walk, side};
use crate::dtype::width::word_of_width;

/// Lines of up to this many bytes are copied several at a time.
const SHORT: usize = 256;

/// A strided copy; tile by tile where the source is transposed relative to the result.
#[derive(Clone, Copy)]
struct Moving<W> {
    out: *mut W,
    a: *const W,
    /// Whether transposed tiles are written with non-temporal stores.
    non_temporal: bool,
}

/// The whole walk.
struct CopyAll<'a, W>(&'a Walk<2>, Moving<W>);
impl<W: Copy> Loop for CopyAll<'_, W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `whole_walk`'s caller promises it.
        unsafe { engine::visit_tiles(self.0, self.1) }
    }
}

impl<W: Copy> Body<2> for Moving<W> {
    fn nanoseconds(&self, len: usize) -> usize {
        engine::copy_nanoseconds(len, 2 * size_of::<W>())
    }

    #[inline(always)]
    unsafe fn run(self, run: Run<2>) {
        // SAFETY: the caller's promise. (`memcpy` chooses its stores itself.)
        unsafe {
            let (out, a) = (self.out.add(run.starts[0]), self.a.add(run.starts[1]));
            copy_strided_as(run.len, (out, run.steps[0]), (a, run.steps[1]));
        }
    }

    #[inline(always)]
    unsafe fn tile(self, starts: [usize; 2], steps: [[usize; 2]; 2], lines: usize, len: usize) {
        if lines == 1 {
            // SAFETY: the caller's promise.
            return unsafe { self.run(Run { starts, len, steps: steps[1] }) };
        }
        if !(steps[0][1] == 1 && steps[1][1] > 1) {
            // SAFETY: the caller's promise.
            return unsafe { self.lines(starts, steps, [lines, len]) };
        }
        // SAFETY: the caller's promise; a tile fits the buffer.
        unsafe {
            let (from, to) = (self.a.add(starts[1]), self.out.add(starts[0]));
            let (step, whole) = (steps[1][1], steps[1][0] == 1 && steps[0][0] == len);
            let next = if self.non_temporal { lines } else { len * step };
            let direct = whole && !self.non_temporal;
            let mut buffer = TransposeTile::new();
            let tile: *mut W = buffer.start();
            let place = if direct { to } else { tile };
            simd::dispatch(TransposeLoop { from, to: place, to_step: len, step, lines, len, next });
            if direct {
                return;
            }
            if whole {
                return non_temporal::store(to.cast(), tile.cast(), lines * len * size_of::<W>());
            }
            for line in 0..lines {
                let (to, from) = (to.add(line * steps[0][0]), tile.add(line * len));
                // Prefetches the next tile of the result.
                let next = to.wrapping_add(len);
                simd::prefetch(next);
                simd::prefetch(next.wrapping_add(len / 2));
                if self.non_temporal && steps[1][0] == 1 {
                    non_temporal::store(to.cast(), from.cast(), len * size_of::<W>());
                } else {
                    copy_strided_as(len, (to, steps[1][0]), (from, 1));
                }
            }
        }
    }

    fn short_line(&self) -> usize {
        SHORT / size_of::<W>()
    }

    #[inline(always)]
    unsafe fn lines(self, starts: [usize; 2], steps: [[usize; 2]; 2], [lines, len]: [usize; 2]) {
        let (to_steps, from_steps) = ([steps[0][0], steps[1][0]], [steps[0][1], steps[1][1]]);
        // SAFETY: the caller's promise.
        unsafe {
            let (to, from) = (self.out.add(starts[0]), self.a.add(starts[1]));
            simd::dispatch(CopyLines { to, from, lines, len, to_steps, from_steps });
        }
    }

    fn tile_size(&self) -> [usize; 2] {
        [side(size_of::<W>()); 2]
    }

    #[inline(always)]
    fn follows_operand(&self) -> bool {
        self.non_temporal
    }

    #[inline(always)]
    fn prefetch_line(&self, run: Run<2>) {
        if run.steps[1] == 1 {
            simd::prefetch_row(self.a.wrapping_add(run.starts[1]), run.len);
        }
    }

    unsafe fn single_loop(self, run: Run<2>, _: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if run.steps == [1, 1] {
                return self.run(run);
            }
            let (len, [to_step, from_step]) = (run.len, run.steps);
            let (to, from) = (self.out.add(run.starts[0]), self.a.add(run.starts[1]));
            let strided = |to, from, len| {
                simd::dispatch(CopyLines {
                    to,
                    from,
                    lines: 1,
                    len,
                    to_steps: [0, to_step],
                    from_steps: [0, from_step],
                });
            };
            if !(self.non_temporal && to_step == 1) {
                return strided(to, from, len);
            }
            let (mut buffer, capacity, mut at) = (Staging::new(), Staging::capacity::<W>(), 0);
            while at < len {
                let count = capacity.min(len - at);
                // Reads and non-temporal stores alternate, a pattern the hardware prefetcher does not follow.
                let next = from.wrapping_add((at + count) * from_step);
                simd::prefetch_steps(next.cast(), capacity.min(len - at - count), from_step * size_of::<W>());
                // A broadcast element is in the buffer already.
                if from_step != 0 || at == 0 {
                    strided(buffer.start(), from.add(at * from_step), count);
                }
                buffer.store(to.add(at), count);
                at += count;
            }
            non_temporal::fence();
        }
    }

    unsafe fn contiguous(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { core::ptr::copy_nonoverlapping(self.a, self.out, len) }
    }

    unsafe fn whole_walk(self, walk: &Walk<2>, _: usize) {
        simd::dispatch(CopyAll(walk, self));
        if self.non_temporal {
            non_temporal::fence();
        }
    }
}

/// Copies whole rows in the source's order, with non-temporal stores to wherever they go in the result.
#[derive(Clone, Copy)]
struct Scattering<W> {
    a: *const W,
    out: *mut W,
}
impl<W: Copy> Body<2> for Scattering<W> {
    fn nanoseconds(&self, len: usize) -> usize {
        engine::copy_nanoseconds(len, 2 * size_of::<W>())
    }
    fn tile_size(&self) -> [usize; 2] {
        [side(size_of::<W>()); 2]
    }
    fn prefetch_line(&self, _: Run<2>) {}
    fn short_line(&self) -> usize {
        usize::MAX
    }
    #[inline(always)]
    unsafe fn run(self, run: Run<2>) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, out) = (self.a.add(run.starts[0]), self.out.add(run.starts[1]));
            if run.steps == [1, 1] {
                non_temporal::store(out.cast(), a.cast(), run.len * size_of::<W>());
            } else {
                copy_strided_as(run.len, (out, run.steps[1]), (a, run.steps[0]));
            }
        }
    }
    unsafe fn single_loop(self, run: Run<2>, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.run(run) }
        non_temporal::fence();
    }
    unsafe fn contiguous(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { core::ptr::copy_nonoverlapping(self.a, self.out, len) }
    }
    unsafe fn whole_walk(self, walk: &Walk<2>, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { engine::visit_tiles(walk, self) }
        non_temporal::fence();
    }
}

/// Bytes from which on rows can be written in any order at full speed.
const ROW: usize = 128;

/// Whether both operands have contiguous rows, in different orders. (Broadcast operands are read in the result's
/// order: they stay in the caches.)
fn has_rows_elsewhere(width: usize, sizes: &[usize], strides: [&[usize]; 2]) -> bool {
    let axes = || (0..sizes.len()).filter(|&axis| sizes[axis] != 1);
    let rows = axes()
        .next_back()
        .is_some_and(|last| strides[0][last] == 1 && strides[1][last] == 1 && sizes[last] * width >= ROW);
    rows && axes().all(|axis| strides[1][axis] != 0)
        && !axes().is_sorted_by_key(|axis| core::cmp::Reverse(strides[1][axis]))
}

/// Copies elements of `width` bytes to a fresh result of `len`.
///
/// # Safety
/// As for [`engine::run_fresh`].
pub(super) unsafe fn copy_fresh(
    width: usize,
    len: usize,
    sizes: &[usize],
    strides: [&[usize]; 2],
    out: *mut u8,
    a: *const u8,
) {
    // SAFETY: the caller's promise.
    word_of_width!(width, W => unsafe {
        let non_temporal = non_temporal::pays_off(len * width);
        if non_temporal && has_rows_elsewhere(width, sizes, strides) {
            let walk = Walk::new(sizes, [strides[1], strides[0]]);
            return engine::run_threaded(len, &walk, Scattering::<W> { a: a.cast(), out: out.cast() });
        }
        engine::run_fresh(len, sizes, strides, Moving::<W> { out: out.cast(), a: a.cast(), non_temporal });
    });
}

/// Copies elements of `width` bytes into existing places.
///
/// # Safety
/// As for [`engine::run_into`].
pub(super) unsafe fn copy_into(width: usize, sizes: &[usize], strides: [&[usize]; 2], out: *mut u8, a: *const u8) {
    // SAFETY: the caller's promise.
    word_of_width!(width, W => unsafe { engine::run_into(sizes, strides, Moving::<W> { out: out.cast(), a: a.cast(), non_temporal: false }) });
}

/// Bytes of the next run that are prefetched: the hardware prefetcher takes over from there.
const NEXT: usize = 1024;

/// Copies bytes, with non-temporal stores if the whole result is large.
///
/// # Safety
/// `from` may be read and `to` written for `bytes` bytes. [`non_temporal::fence`] is called before another thread reads them.
#[inline(always)]
unsafe fn copy_part(to: *mut u8, from: *const u8, bytes: usize, is_large: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        if is_large {
            non_temporal::store(to, from, bytes);
        } else {
            core::ptr::copy_nonoverlapping(from, to, bytes);
        }
    }
}

/// Concatenates rows: each of `rows` rows is one run of bytes from every operand, given by its start and length; the
/// runs of an operand are contiguous. Returns false, having written nothing, if there are short runs in many rows.
///
/// # Safety
/// There are `rows` runs from each start, and room for all of them.
pub(super) unsafe fn interleave(rows: usize, runs: &[(*const u8, usize)], out: *mut u8) -> bool {
    if rows > 1 && runs.iter().any(|&(_, bytes)| bytes < ROW) {
        return false;
    }
    let row = runs.iter().map(|(_, bytes)| bytes).sum::<usize>();
    let bytes = rows * row;
    if bytes == 0 {
        return false;
    }
    // Divided at cache lines, so that no two threads write to the same one.
    let (lines, is_large) = (bytes.div_ceil(64), non_temporal::pays_off(bytes));
    let pieces = threads::pieces(engine::copy_nanoseconds(bytes, 2)).min(lines);
    let places = Shared((runs, out));
    threads::for_each(pieces, &|piece| {
        let places = &places;
        let (runs, out) = places.0;
        let start = |piece: usize| (lines * piece / pieces * 64).min(bytes);
        let (mut at, end) = (start(piece), start(piece + 1));
        while at < end {
            // The offset of the part in its row, then in its run.
            let (number, mut from) = (at / row, at % row);
            for (index, &(start, run)) in runs.iter().enumerate() {
                if from >= run {
                    from -= run;
                    continue;
                }
                let len = (run - from).min(end - at);
                if is_large {
                    let (next, bytes) = if index + 1 < runs.len() { runs[index + 1] } else { runs[0] };
                    let row = number + usize::from(index + 1 == runs.len());
                    simd::prefetch_steps(next.wrapping_add(row * bytes), bytes.min(NEXT), 1);
                }
                // SAFETY: the caller's promise; every part of the result is written by one thread.
                unsafe { copy_part(out.add(at), start.add(number * run + from), len, is_large) }
                (at, from) = (at + len, 0);
            }
        }
        if is_large {
            non_temporal::fence();
        }
    });
    true
}
