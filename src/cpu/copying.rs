//! Elements moved without change: what they are is forgotten but for their size.
//!
//! Uses the engine; used by the elementwise loops.

use super::engine::{self, Body};
use super::indexing::by_width;
use super::simd::{self, Loop};
use super::walk::{Run, TILE, Walk};
use core::mem::MaybeUninit;

/// Room for a tile of an operand of any dtype.
#[repr(align(64))]
pub(super) struct Tile([MaybeUninit<[u64; 2]>; TILE * TILE]);

impl Tile {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Tile([const { MaybeUninit::uninit() }; TILE * TILE])
    }

    /// Turned, so that its lines, `TILE` apart, are those of the result; see [`turn`].
    ///
    /// # Safety
    /// As for [`turn`].
    pub(super) unsafe fn turn(
        &mut self,
        width: usize,
        from: *const u8,
        step: usize,
        lines: usize,
        len: usize,
    ) -> *mut u8 {
        let to = self.0.as_mut_ptr();
        // SAFETY: the caller's promise; no element is larger than those of the tile.
        by_width!(width, W => simd::dispatch(Turning::<W> { from: from.cast(), to: to.cast(), step, lines, len }));
        to.cast()
    }
}

/// Element `i` of line `line` is the one `line + i * step` from `from`. What lies side by side is read side by side: each cache
/// line once. These are places of valid elements, and `lines` and `len` are at most `TILE`.
struct Turning<W> {
    from: *const W,
    to: *mut W,
    step: usize,
    lines: usize,
    len: usize,
}
impl<W: Copy> Loop for Turning<W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Turning { from, to, step, lines, len } = self;
        // SAFETY: whoever made it promises that; `line * TILE + i` is inside the tile.
        unsafe {
            for i in 0..len {
                // The tile after this one: so far apart no hardware prefetcher sees a pattern.
                simd::prefetch(from.wrapping_add((i + TILE) * step));
                simd::prefetch(from.wrapping_add((i + TILE) * step + lines / 2));
                for line in 0..lines {
                    to.add(line * TILE + i).write(from.add(line + i * step).read());
                }
            }
        }
    }
}

/// Copies `len` elements of `width` bytes: where they go and come from, and how far each time.
///
/// # Safety
/// These places are valid, and those written are nobody else's.
pub(super) unsafe fn along(width: usize, len: usize, to: (*mut u8, usize), from: (*const u8, usize)) {
    // SAFETY: the caller's promise.
    by_width!(width, W => unsafe { along_as::<W>(len, (to.0.cast(), to.1), (from.0.cast(), from.1)) });
}

/// # Safety
/// As for [`along`].
#[inline(always)]
unsafe fn along_as<W: Copy>(len: usize, (to, to_step): (*mut W, usize), (from, from_step): (*const W, usize)) {
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

/// Elements moved: what runs across the result is turned a tile at a time.
#[derive(Clone, Copy)]
struct Moving<W> {
    out: *mut W,
    a: *const W,
}

/// Every inner loop of a walk.
struct Everywhere<'a, W>(&'a Walk<2>, Moving<W>);
impl<W: Copy> Loop for Everywhere<'_, W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `everywhere`'s caller promises it.
        unsafe { engine::visit(self.0, self.1) }
    }
}

impl<W: Copy> Body<2> for Moving<W> {
    fn bytes(&self) -> usize {
        2 * size_of::<W>()
    }

    #[inline(always)]
    unsafe fn run(self, run: Run<2>) {
        // SAFETY: the caller's promise. (Copies of memory look after the caches themselves.)
        unsafe {
            let (out, a) = (self.out.add(run.starts[0]), self.a.add(run.starts[1]));
            along_as(run.len, (out, run.steps[0]), (a, run.steps[1]));
        }
    }

    #[inline(always)]
    unsafe fn tile(self, starts: [usize; 2], steps: [[usize; 2]; 2], lines: usize, len: usize) {
        let mut room = Tile::new();
        let turned: *mut W = room.0.as_mut_ptr().cast();
        let (mut body, mut from, mut along) = (self, starts[1], [steps[0][1], steps[1][1]]);
        if lines > 1 && steps[0][1] == 1 && steps[1][1] > 1 {
            // SAFETY: the caller's promise; only tiles have several lines, and those are no larger than `TILE`.
            let from_tile = unsafe { self.a.add(from) };
            Turning { from: from_tile, to: turned, step: along[1], lines, len }.run();
            (body.a, from, along) = (turned, 0, [TILE, 1]);
        }
        for line in 0..lines {
            let starts = [starts[0] + line * steps[0][0], from + line * along[0]];
            if lines > 1 {
                // The tile after this one.
                let next = self.out.wrapping_add(starts[0] + TILE);
                simd::prefetch(next);
                simd::prefetch(next.wrapping_add(TILE / 2));
            }
            // SAFETY: the caller's promise, and the turned tile has `lines` lines of `len` elements.
            unsafe { body.run(Run { starts, len, steps: [steps[1][0], along[1]] }) }
        }
    }

    unsafe fn line(self, run: Run<2>, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.run(run) }
    }

    unsafe fn few(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { core::ptr::copy_nonoverlapping(self.a, self.out, len) }
    }

    unsafe fn everywhere(self, walk: &Walk<2>) {
        simd::dispatch(Everywhere(walk, self));
    }
}

/// Copies elements of `width` bytes to a fresh result of `len`.
///
/// # Safety
/// As for [`engine::spread`].
pub(super) unsafe fn spread(
    width: usize,
    len: usize,
    sizes: &[usize],
    strides: [&[usize]; 2],
    out: *mut u8,
    a: *const u8,
) {
    // SAFETY: the caller's promise.
    by_width!(width, W => unsafe { engine::spread(len, sizes, strides, Moving::<W> { out: out.cast(), a: a.cast() }) });
}

/// Copies elements of `width` bytes to where they belong.
///
/// # Safety
/// As for [`engine::over`].
pub(super) unsafe fn over(width: usize, sizes: &[usize], strides: [&[usize]; 2], out: *mut u8, a: *const u8) {
    // SAFETY: the caller's promise.
    by_width!(width, W => unsafe { engine::over(sizes, strides, Moving::<W> { out: out.cast(), a: a.cast() }) });
}
