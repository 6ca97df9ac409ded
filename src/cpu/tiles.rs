//! Copies tiles of elements that are contiguous across the result's lines, transposing them.

use super::simd::{self, Loop};
#[cfg(target_arch = "x86_64")]
use super::transpose;
use super::walk::{TILE, side};
use crate::dtype::width::word_of_width;
use core::mem::MaybeUninit;

/// A buffer for a tile of any dtype.
#[repr(align(64))]
pub(super) struct TransposeTile([MaybeUninit<[u64; 2]>; TILE * TILE]);

// The tiles fit, of all sizes of elements.
const _: () = assert!(side(16) <= TILE && side(4) * side(4) * 4 <= size_of::<TransposeTile>() && side(8) <= TILE);
const _: () = assert!(CACHE_LINE * LENGTH <= size_of::<TransposeTile>());

/// Maximum length of lines whose successors are prefetched.
const PREFETCHED: usize = 2 * TILE;
/// The bytes of a cache line.
const CACHE_LINE: usize = 64;
/// Elements per line of a tile: with fewer, calling the loop for each line takes longer than the loop.
const LENGTH: usize = 256;

impl TransposeTile {
    #[inline(always)]
    pub(super) fn new() -> Self {
        TransposeTile([const { MaybeUninit::uninit() }; TILE * TILE])
    }

    /// The lines of a tile for elements of this many bytes, and their length: a cache line of the operand has an element of each line.
    pub(super) fn sizes(width: usize) -> [usize; 2] {
        [(CACHE_LINE / width).max(1), LENGTH]
    }

    /// Pointer to the first element.
    #[inline(always)]
    pub(super) fn start<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Copies a tile transposed, into adjacent contiguous lines; see [`TransposeLoop`].
    ///
    /// # Safety
    /// As there; the buffer holds a tile of that size.
    pub(super) unsafe fn transpose(
        &mut self,
        width: usize,
        from: *const u8,
        step: usize,
        [lines, len]: [usize; 2],
    ) -> *mut u8 {
        let to = self.0.as_mut_ptr();
        // (By parts: each prefetches the next one.)
        for first in (0..len).step_by(PREFETCHED) {
            let part = PREFETCHED.min(len - first);
            word_of_width!(width, W => simd::dispatch(TransposeLoop::<W> {
                from: from.cast::<W>().wrapping_add(first * step),
                to: to.cast::<W>().wrapping_add(first),
                to_step: len,
                step,
                lines,
                len: part,
                next: part * step,
            }));
        }
        to.cast()
    }
}

/// Transposes a tile: element `i` of line `line` is read at `from + line + i * step` and written at `to + line * to_step + i`. Reads follow
/// memory, so each cache line is read once. All places are valid.
pub(super) struct TransposeLoop<W> {
    pub(super) from: *const W,
    pub(super) to: *mut W,
    /// Distance between lines in the destination.
    pub(super) to_step: usize,
    pub(super) step: usize,
    pub(super) lines: usize,
    pub(super) len: usize,
    /// Distance to the next tile, which is prefetched.
    pub(super) next: usize,
}
impl<W: Copy> TransposeLoop<W> {
    /// Copies the given lines and elements of the tile one at a time.
    #[inline(always)]
    fn rest(&self, lines: core::ops::Range<usize>, elements: core::ops::Range<usize>) {
        for i in elements {
            for line in lines.clone() {
                // SAFETY: the maker of this loop promises that the places are valid.
                unsafe { self.to.add(line * self.to_step + i).write(self.from.add(line + i * self.step).read()) }
            }
        }
    }

    /// A tile of `FEW` lines with interleaved elements, such as the channels of pixels: from pixels to planes.
    #[inline(always)]
    fn to_planes<const FEW: usize>(&self) {
        for i in 0..self.len {
            for line in 0..FEW {
                // SAFETY: as above.
                unsafe { self.to.add(line * self.to_step + i).write(self.from.add(line + i * FEW).read()) }
            }
        }
    }

    /// A tile of adjacent lines of `FEW` elements: from planes to pixels.
    #[inline(always)]
    fn to_pixels<const FEW: usize>(&self) {
        for line in 0..self.lines {
            for i in 0..FEW {
                // SAFETY: as above.
                unsafe { self.to.add(line * FEW + i).write(self.from.add(line + i * self.step).read()) }
            }
        }
    }
}
impl<W: Copy> Loop for TransposeLoop<W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let TransposeLoop { from, to_step, step, lines, len, next, .. } = self;
        match (lines, len) {
            (2, _) if step == 2 => return self.to_planes::<2>(),
            (3, _) if step == 3 => return self.to_planes::<3>(),
            (4, _) if step == 4 => return self.to_planes::<4>(),
            (_, 2) if to_step == 2 => return self.to_pixels::<2>(),
            (_, 3) if to_step == 3 => return self.to_pixels::<3>(),
            (_, 4) if to_step == 4 => return self.to_pixels::<4>(),
            _ => {}
        }
        // Prefetches the next tile: with strides this large the hardware prefetcher sees no pattern.
        if len <= PREFETCHED {
            for i in 0..len {
                simd::prefetch(from.wrapping_add(i * step + next));
                simd::prefetch(from.wrapping_add(i * step + next + lines / 2));
            }
        }
        #[cfg(target_arch = "x86_64")]
        if let Some((side, square)) = transpose::squares(size_of::<W>()) {
            let (whole_lines, whole) = (lines / side * side, len / side * side);
            for i in (0..whole).step_by(side) {
                for line in (0..whole_lines).step_by(side) {
                    // SAFETY: the square is inside the tile; `squares` has checked for the instructions.
                    unsafe {
                        let (from, to) = (from.add(line + i * step), self.to.add(line * to_step + i));
                        square(from.cast(), step * size_of::<W>(), to.cast(), to_step * size_of::<W>());
                    }
                }
            }
            self.rest(whole_lines..lines, 0..whole);
            return self.rest(0..lines, whole..len);
        }
        self.rest(0..lines, 0..len);
    }
}
