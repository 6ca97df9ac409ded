//! Copies of lines of elements, contiguous or strided, several short ones at a time.

use super::simd::{self, Loop};
use crate::dtype::width::word_of_width;
use core::mem::MaybeUninit;

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
pub(super) unsafe fn copy_strided_as<W: Copy>(
    len: usize,
    (to, to_step): (*mut W, usize),
    (from, from_step): (*const W, usize),
) {
    // SAFETY: the caller's promise.
    unsafe {
        match (to_step, from_step) {
            (1, 1) => core::ptr::copy_nonoverlapping(from, to, len),
            (1, 0) => {
                core::slice::from_raw_parts_mut(to.cast::<MaybeUninit<W>>(), len).fill(MaybeUninit::new(from.read()))
            }
            // A constant stride, so that the compiler loads whole vectors.
            (1, 2) => (0..len).for_each(|i| to.add(i).write(from.add(i * 2).read())),
            (1, 3) => (0..len).for_each(|i| to.add(i).write(from.add(i * 3).read())),
            (1, 4) => (0..len).for_each(|i| to.add(i).write(from.add(i * 4).read())),
            (1, _) => (0..len).for_each(|i| to.add(i).write(from.add(i * from_step).read())),
            _ => (0..len).for_each(|i| to.add(i * to_step).write(from.add(i * from_step).read())),
        }
    }
}

/// Lines of elements, copied to or from adjacent lines.
pub(super) struct CopyLines<W> {
    pub(super) to: *mut W,
    pub(super) from: *const W,
    pub(super) lines: usize,
    pub(super) len: usize,
    /// From line to line and from element to element, in the destination; then in the source.
    pub(super) to_steps: [usize; 2],
    pub(super) from_steps: [usize; 2],
}
impl<W: Copy> Loop for CopyLines<W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let CopyLines { to, from, mut lines, len, to_steps, from_steps } = self;
        // SAFETY: the maker of this loop promises that all places are valid and that nobody else accesses the destination.
        unsafe {
            if from_steps[1] == 0 && to_steps == [len, 1] {
                match (len, from_steps[0]) {
                    (2, 1) => return repeat_each::<W, 2>(to, from, lines),
                    (3, 1) => return repeat_each::<W, 3>(to, from, lines),
                    (4, 1) => return repeat_each::<W, 4>(to, from, lines),
                    _ => {}
                }
            }
            // One line repeated many times into adjacent places: the copies written so far are doubled.
            let (total, repeats) = (lines * len, from_steps == [0, 1] && to_steps == [len, 1] && lines > 2);
            if repeats {
                lines = 1;
            }
            for line in 0..lines {
                let (to, from) = (to.add(line * to_steps[0]), from.add(line * from_steps[0]));
                match (to_steps[1], from_steps[1]) {
                    (1, 1) => copy_short(to.cast(), from.cast(), len * size_of::<W>()),
                    (1, 0) => fill_short(to, from.read(), len),
                    _ => copy_strided_as(len, (to, to_steps[1]), (from, from_steps[1])),
                }
            }
            let mut written = if repeats { len } else { total };
            while written < total {
                // As many whole lines as stay in the caches.
                let most =
                    if written * size_of::<W>() < REPEATED { written } else { REPEATED / size_of::<W>() / len * len };
                let more = most.max(len).min(total - written);
                core::ptr::copy_nonoverlapping(to.cast_const(), to.add(written), more);
                written += more;
            }
        }
    }
}

/// Bytes of repeated lines copied at a time.
const REPEATED: usize = 8 << 10;

/// Bytes per move in short copies.
const MOVED: usize = 64;

/// Copies a few bytes without calling `memcpy`.
///
/// # Safety
/// There are `bytes` bytes on either side; they do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_short(to: *mut u8, from: *const u8, bytes: usize) {
    /// Moves one `P` from the start and one from the end; the two may overlap.
    #[inline(always)]
    unsafe fn both_ends<P: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
        let end = bytes - size_of::<P>();
        // SAFETY: the caller's promise; there are at least `size_of::<P>()` bytes.
        unsafe {
            let (first, last) = (from.cast::<P>().read_unaligned(), from.add(end).cast::<P>().read_unaligned());
            to.cast::<P>().write_unaligned(first);
            to.add(end).cast::<P>().write_unaligned(last);
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            0 => {}
            1 => to.write(from.read()),
            2..4 => both_ends::<u16>(to, from, bytes),
            4..8 => both_ends::<u32>(to, from, bytes),
            8..16 => both_ends::<u64>(to, from, bytes),
            16..32 => both_ends::<[u64; 2]>(to, from, bytes),
            32..MOVED => both_ends::<[u64; 4]>(to, from, bytes),
            MOVED..=512 => {
                let mut at = 0;
                while at + 2 * MOVED <= bytes {
                    let part = from.add(at).cast::<[u64; MOVED / 8]>().read_unaligned();
                    to.add(at).cast::<[u64; MOVED / 8]>().write_unaligned(part);
                    at += MOVED;
                }
                both_ends::<[u64; MOVED / 8]>(to.add(at), from.add(at), bytes - at);
            }
            _ => core::ptr::copy_nonoverlapping(from, to, bytes),
        }
    }
}

/// Copies blocks of `bytes` bytes, `step` bytes apart, to adjacent places.
///
/// # Safety
/// There are `count` blocks at `from`, and room for them at `to`; the two do not overlap.
pub(super) unsafe fn copy_blocks(to: *mut u8, from: *const u8, step: isize, bytes: usize, count: usize) {
    /// Moves a whole word for every block except the first and the last. Its excess bytes belong to the neighbouring block, and the next
    /// word overwrites them.
    #[inline(always)]
    unsafe fn by_words<P: Copy>(to: *mut u8, from: *const u8, step: isize, bytes: usize, count: usize) {
        // SAFETY: the caller's promise; a word is no longer than two adjacent blocks.
        unsafe {
            for i in 1..count.saturating_sub(1) {
                let word = from.offset(i as isize * step).cast::<P>().read_unaligned();
                to.add(i * bytes).cast::<P>().write_unaligned(word);
            }
        }
    }
    let Some(last) = count.checked_sub(1) else { return };
    // SAFETY: the caller's promise. A word is as long as the block rounded up to a power of two.
    unsafe {
        let one = |i: usize| copy_short(to.add(i * bytes), from.offset(i as isize * step), bytes);
        // (Only adjacent blocks: bytes between distant ones may belong to another thread.)
        if step.unsigned_abs() != bytes || !(2..=32).contains(&bytes) {
            return (0..count).for_each(one);
        }
        one(0);
        match bytes.next_power_of_two() {
            2 => by_words::<u16>(to, from, step, bytes, count),
            4 => by_words::<u32>(to, from, step, bytes, count),
            8 => by_words::<u64>(to, from, step, bytes, count),
            16 => by_words::<[u64; 2]>(to, from, step, bytes, count),
            _ => by_words::<[u64; 4]>(to, from, step, bytes, count),
        }
        one(last);
    }
}

/// Writes one element to a few places.
///
/// # Safety
/// There is room for `len` elements.
#[inline(always)]
unsafe fn fill_short<W: Copy>(to: *mut W, value: W, len: usize) {
    let each = MOVED / size_of::<W>();
    // SAFETY: the caller's promise; the pattern is not read past its end. (It holds the same value in every element.)
    unsafe {
        if len < 4 || len >= 4 * each {
            return (0..len).for_each(|at| to.add(at).write(value));
        }
        let mut pattern = [MaybeUninit::<u64>::uninit(); MOVED / 8];
        let from = pattern.as_mut_ptr().cast::<W>();
        (0..each).for_each(|at| from.add(at).write_unaligned(value));
        let mut at = 0;
        while at + each <= len {
            to.add(at).cast::<[u64; MOVED / 8]>().write_unaligned(from.cast::<[u64; MOVED / 8]>().read_unaligned());
            at += each;
        }
        copy_short(to.add(at).cast(), from.cast_const().cast(), (len - at) * size_of::<W>());
    }
}

/// Writes each element `FEW` times in a row.
///
/// # Safety
/// There are `len` elements, and room for all copies.
#[inline(always)]
unsafe fn repeat_each<W: Copy, const FEW: usize>(to: *mut W, from: *const W, len: usize) {
    for i in 0..len {
        for copy in 0..FEW {
            // SAFETY: the caller's promise.
            unsafe { to.add(i * FEW + copy).write(from.add(i).read()) }
        }
    }
}

/// Gathers lines of elements of `width` bytes into adjacent places; `steps` are the source's, from line to line and from element to
/// element.
///
/// # Safety
/// These places are valid, and there is room for all of them.
pub(super) unsafe fn gather(width: usize, [lines, len]: [usize; 2], to: *mut u8, from: *const u8, steps: [usize; 2]) {
    word_of_width!(width, W => simd::dispatch(CopyLines::<W> {
        to: to.cast(), from: from.cast(), lines, len, to_steps: [len, 1], from_steps: steps,
    }));
}

/// Scatters adjacent lines of elements of `width` bytes; `steps` are the destination's.
///
/// # Safety
/// These places are valid, and nobody else accesses the destination.
pub(super) unsafe fn spread(width: usize, [lines, len]: [usize; 2], to: *mut u8, from: *const u8, steps: [usize; 2]) {
    word_of_width!(width, W => simd::dispatch(CopyLines::<W> {
        to: to.cast(), from: from.cast(), lines, len, to_steps: steps, from_steps: [len, 1],
    }));
}
