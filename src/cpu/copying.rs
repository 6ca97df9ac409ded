//! Copies of strided elements, which know elements by their size alone. Transposed operands are copied tile by tile.
//!
//! Uses the engine; used by the elementwise loops, lanes and reductions.

use super::engine::{self, Body};
use super::non_temporal;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
#[cfg(target_arch = "x86_64")]
use super::transpose;
use super::walk::{Run, TILE, Walk, side};
use crate::dtype::width::word_of_width;
use core::mem::MaybeUninit;

/// A buffer for a tile of any dtype.
#[repr(align(64))]
pub(super) struct TransposeTile([MaybeUninit<[u64; 2]>; TILE * TILE]);

// The tiles of the largest elements, and the largest tile, fit.
const _: () = assert!(side(16) <= TILE && side(4) * side(4) * 4 <= size_of::<TransposeTile>() && side(8) <= TILE);

impl TransposeTile {
    #[inline(always)]
    pub(super) fn new() -> Self {
        TransposeTile([const { MaybeUninit::uninit() }; TILE * TILE])
    }

    /// Copies a tile transposed: its lines, `side` elements apart, are contiguous like those of the result; see
    /// [`TransposeLoop`].
    ///
    /// # Safety
    /// As there; a tile of that side fits the buffer.
    pub(super) unsafe fn transpose(
        &mut self,
        width: usize,
        side: usize,
        from: *const u8,
        step: usize,
        [lines, len]: [usize; 2],
    ) -> *mut u8 {
        let (to, next) = (self.0.as_mut_ptr(), side * step);
        word_of_width!(width, W => simd::dispatch(TransposeLoop::<W> {
            from: from.cast(),
            to: to.cast(),
            side,
            step,
            lines,
            len,
            next,
        }));
        to.cast()
    }
}

/// Transposes a tile: element `i` of line `line` is read at `from + line + i * step`. Reads follow memory, so each
/// cache line is read once. All places are valid, and `lines` and `len` are at most `side`.
struct TransposeLoop<W> {
    from: *const W,
    to: *mut W,
    /// From line to line in the destination.
    side: usize,
    step: usize,
    lines: usize,
    len: usize,
    /// The distance to the next tile, which is prefetched.
    next: usize,
}
impl<W: Copy> Loop for TransposeLoop<W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let TransposeLoop { from, to, side, step, lines, len, next } = self;
        // SAFETY: whoever made it promises that the places are valid; `line * side + i` is inside the tile.
        unsafe {
            for i in 0..len {
                // Prefetches the next tile: with strides this large the hardware prefetcher sees no pattern.
                simd::prefetch(from.wrapping_add(i * step + next));
                simd::prefetch(from.wrapping_add(i * step + next + lines / 2));
            }
            #[cfg(target_arch = "x86_64")]
            if size_of::<W>() == 4 && [lines, len] == [side; 2] && transpose::is_there() {
                for i in (0..side).step_by(transpose::SIDE) {
                    for line in (0..side).step_by(transpose::SIDE) {
                        let (from, to) = (from.add(line + i * step), to.add(line * side + i));
                        transpose::transpose(from.cast(), step * size_of::<W>(), to.cast(), side);
                    }
                }
                return;
            }
            for i in 0..len {
                for line in 0..lines {
                    to.add(line * side + i).write(from.add(line + i * step).read());
                }
            }
        }
    }
}

/// Copies `len` elements of `width` bytes; both sides are a start and a step.
///
/// # Safety
/// These places are valid, and nobody else reads or writes the destination.
pub(super) unsafe fn copy_strided(width: usize, len: usize, to: (*mut u8, usize), from: (*const u8, usize)) {
    // SAFETY: the caller's promise.
    word_of_width!(width, W => unsafe { copy_strided_as::<W>(len, (to.0.cast(), to.1), (from.0.cast(), from.1)) });
}

/// # Safety
/// As for [`copy_strided`].
#[inline(always)]
unsafe fn copy_strided_as<W: Copy>(len: usize, (to, to_step): (*mut W, usize), (from, from_step): (*const W, usize)) {
    // SAFETY: the caller's promise.
    unsafe {
        match (to_step, from_step) {
            (1, 1) => core::ptr::copy_nonoverlapping(from, to, len),
            (1, 0) => {
                core::slice::from_raw_parts_mut(to.cast::<MaybeUninit<W>>(), len).fill(MaybeUninit::new(from.read()))
            }
            (1, _) => (0..len).for_each(|i| to.add(i).write(from.add(i * from_step).read())),
            _ => (0..len).for_each(|i| to.add(i * to_step).write(from.add(i * from_step).read())),
        }
    }
}

/// A strided copy, tile by tile where the source runs across the result.
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
        let side = side(size_of::<W>());
        let mut buffer = TransposeTile::new();
        let transposed: *mut W = buffer.0.as_mut_ptr().cast();
        let (mut body, mut from, mut along) = (self, starts[1], [steps[0][1], steps[1][1]]);
        if steps[0][1] == 1 && steps[1][1] > 1 {
            // SAFETY: the caller's promise; only tiles have several lines, and those are no larger than `side`.
            let from_tile = unsafe { self.a.add(from) };
            let next = if self.non_temporal { side } else { side * along[1] };
            TransposeLoop { from: from_tile, to: transposed, side, step: along[1], lines, len, next }.run();
            (body.a, from, along) = (transposed, 0, [side, 1]);
        }
        for line in 0..lines {
            let starts = [starts[0] + line * steps[0][0], from + line * along[0]];
            // Prefetches the next tile of the result.
            let next = self.out.wrapping_add(starts[0] + side);
            simd::prefetch(next);
            simd::prefetch(next.wrapping_add(side / 2));
            // SAFETY: the caller's promise, and the transposed tile has `lines` lines of `len` elements.
            unsafe {
                if self.non_temporal && steps[1][0] == 1 && along == [side, 1] {
                    let (to, from) = (self.out.add(starts[0]), body.a.add(starts[1]));
                    non_temporal::store(to.cast(), from.cast(), len * size_of::<W>());
                } else {
                    body.run(Run { starts, len, steps: [steps[1][0], along[1]] });
                }
            }
        }
    }

    fn side(&self) -> usize {
        side(size_of::<W>())
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
        unsafe { self.run(run) }
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

/// Whole rows, read in the source's order and written with non-temporal stores wherever they go.
#[derive(Clone, Copy)]
struct Scattering<W> {
    a: *const W,
    out: *mut W,
}
impl<W: Copy> Body<2> for Scattering<W> {
    fn nanoseconds(&self, len: usize) -> usize {
        engine::copy_nanoseconds(len, 2 * size_of::<W>())
    }
    fn side(&self) -> usize {
        side(size_of::<W>())
    }
    fn prefetch_line(&self, _: Run<2>) {}
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

/// Copies bytes, with non-temporal stores if the whole result is large.
///
/// # Safety
/// There are so many at `from` and as many places at `to`. Before others read them, [`non_temporal::fence`] is
/// called.
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
/// runs of an operand are contiguous. Returns false, having written nothing, if runs are short.
///
/// # Safety
/// There are `rows` runs from each start, and room for all of them.
pub(super) unsafe fn interleave(rows: usize, runs: &[(*const u8, usize)], out: *mut u8) -> bool {
    if runs.iter().any(|&(_, bytes)| bytes < ROW) {
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
        let [mut at, end] = [piece, piece + 1].map(|piece| (lines * piece / pieces * 64).min(bytes));
        while at < end {
            // The offset of the part in its row, then in its run.
            let (number, mut from) = (at / row, at % row);
            for &(start, run) in runs {
                if from >= run {
                    from -= run;
                    continue;
                }
                let len = (run - from).min(end - at);
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
