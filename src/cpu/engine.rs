//! Along walks: what is done at every inner loop, tile by tile where an operand runs across, and by several threads.
//!
//! Uses walks and threads; used by the elementwise loops and by copying.

use super::threads::{self, Shared};
use super::walk::{Planes, Run, Walk};

/// What is done along one inner loop of `N` operands, the first of which is written.
pub(super) trait Body<const N: usize>: Copy {
    /// How many nanoseconds so many elements take, roughly.
    fn nanoseconds(&self, len: usize) -> usize;

    /// # Safety
    /// The operands' places, advanced as the run says, are valid; those written are read and written by nobody else.
    unsafe fn run(self, run: Run<N>);

    /// Some lines of `len` elements: `steps` from line to line and from element to element.
    ///
    /// # Safety
    /// As for `run`, for every line.
    #[inline(always)]
    unsafe fn tile(self, starts: [usize; N], steps: [[usize; N]; 2], lines: usize, len: usize) {
        for line in 0..lines {
            let starts = core::array::from_fn(|operand| starts[operand] + line * steps[0][operand]);
            // SAFETY: the caller's promise.
            unsafe { self.run(Run { starts, len, steps: steps[1] }) }
        }
    }

    /// The side of a tile.
    fn side(&self) -> usize;

    /// Whether tiles are visited in the order of the operand that runs across, not of the result.
    fn follows_operand(&self) -> bool {
        false
    }

    /// Asks for the operands of a line prefetch_line of its use.
    fn prefetch_line(&self, run: Run<N>);

    /// A single inner loop, which is what most walks are; the whole result has `total` elements.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn single_loop(self, run: Run<N>, total: usize);

    /// Few elements, side by side in every operand.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn contiguous(self, len: usize);

    /// Every inner loop of a walk; the whole result has `total` elements.
    ///
    /// # Safety
    /// As for `run`, for all that the walk reaches.
    unsafe fn whole_walk(self, walk: &Walk<N>, total: usize);
}

/// How many nanoseconds elements of so many bytes take that are only moved: memory gives some 64 bytes in one.
pub(super) fn copy_nanoseconds(len: usize, bytes: usize) -> usize {
    len / 64 * bytes
}

/// How many lines prefetch_line operands are asked for: lines far apart are no pattern that hardware would see.
const AHEAD: usize = 4;

/// How many tiles are visited along both axes before the next ones.
const TILES: usize = 4;

/// Every inner loop of a walk.
///
/// # Safety
/// As for [`Body::run`], for all that the walk reaches.
#[inline(always)]
pub(super) unsafe fn visit_tiles<B: Body<N>, const N: usize>(walk: &Walk<N>, body: B) {
    let Planes { outer, sizes, steps, is_tiled } = walk.planes();
    let side = body.side();
    let tile = if is_tiled { [side, side] } else { [1, sizes[1]] };
    for run in outer {
        let prefetches = !is_tiled && sizes[1] <= FEW && run.steps[1..].iter().any(|&step| step > 2 * sizes[1]);
        for plane in 0..run.len {
            let start = |operand: usize| run.starts[operand] + plane * run.steps[operand];
            let start: [usize; N] = core::array::from_fn(start);
            if prefetches && plane + AHEAD < run.len {
                let starts = core::array::from_fn(|operand| start[operand] + AHEAD * run.steps[operand]);
                body.prefetch_line(Run { starts, len: sizes[1], steps: steps[1] });
            }
            // Tiles of tiles: the pages of all operands stay within reach. (Loops with `while`: a `step_by` divides.)
            let blocks = if is_tiled { [TILES * side; 2] } else { sizes };
            let mut corner = [0, 0];
            while corner[0] < sizes[0] {
                corner[1] = 0;
                while corner[1] < sizes[1] {
                    let end = [0, 1].map(|axis| sizes[axis].min(corner[axis] + blocks[axis]));
                    let tile_at = |top: usize, left: usize| {
                        let (lines, len) = (tile[0].min(end[0] - top), tile[1].min(end[1] - left));
                        let place =
                            |operand: usize| start[operand] + top * steps[0][operand] + left * steps[1][operand];
                        // SAFETY: the caller's promise.
                        unsafe { body.tile(core::array::from_fn(place), steps, lines, len) }
                    };
                    if is_tiled && body.follows_operand() {
                        for left in (corner[1]..end[1]).step_by(side) {
                            for top in (corner[0]..end[0]).step_by(side) {
                                tile_at(top, left);
                            }
                        }
                    } else {
                        let mut top = corner[0];
                        while top < end[0] {
                            let mut left = corner[1];
                            while left < end[1] {
                                tile_at(top, left);
                                left += tile[1];
                            }
                            top += tile[0];
                        }
                    }
                    corner[1] += blocks[1];
                }
                corner[0] += blocks[0];
            }
        }
    }
}

/// Runs a body along a walk over `len` elements, with as many threads as are worth it.
///
/// # Safety
/// For every run of the walk, what [`Body::run`] asks for; no element is written twice.
#[inline(never)]
pub(super) unsafe fn run_threaded<B: Body<N>, const N: usize>(len: usize, walk: &Walk<N>, body: B) {
    if len == 0 {
        return;
    }
    let pieces = threads::pieces(body.nanoseconds(len));
    let part = |walk: &Walk<N>, body: B| {
        // SAFETY: the caller's promise.
        unsafe {
            match walk.line_run() {
                Some(run) => body.single_loop(run, len),
                None => body.whole_walk(walk, len),
            }
        }
    };
    if pieces == 1 {
        return part(walk, body);
    }
    let (parts, body) = (walk.split(pieces, 64), Shared(body));
    threads::for_each(parts.len(), &|at| {
        let body = &body;
        part(&parts[at], body.0);
    });
}

/// Elements up to which neither threads nor caches matter, but each step before the loop does.
const FEW: usize = 2048;

/// Runs a body over `len` elements side by side in every operand.
///
/// # Safety
/// As for [`run_threaded`].
#[inline(always)]
pub(super) unsafe fn run_contiguous<B: Body<N>, const N: usize>(len: usize, body: B) {
    // SAFETY: the caller's promise.
    unsafe {
        if len <= FEW {
            body.contiguous(len);
        } else {
            run_threaded(len, &Walk::line(len), body);
        }
    }
}

/// Runs a body over a fresh result and its operands; without a walk where all lie alike, as small tensors mostly do.
///
/// # Safety
/// As for [`run_threaded`]; the result's strides come first and leave no gaps.
#[inline]
pub(super) unsafe fn run_fresh<B: Body<N>, const N: usize>(
    len: usize,
    sizes: &[usize],
    strides: [&[usize]; N],
    body: B,
) {
    // SAFETY: the caller's promise. The result leaves no gaps, so operands with its strides are lines beside it.
    unsafe {
        if strides[1..].iter().any(|operand| *operand != strides[0]) {
            run_threaded(len, &Walk::new(sizes, strides), body);
        } else {
            run_contiguous(len, body);
        }
    }
}

/// Runs a body over an output and what it is computed from; without a walk where all are row-major.
///
/// # Safety
/// As for [`run_threaded`].
#[inline]
pub(super) unsafe fn run_into<B: Body<N>, const N: usize>(sizes: &[usize], strides: [&[usize]; N], body: B) {
    let mut len = 1;
    let mut row_major = true;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        row_major &= strides.iter().all(|strides| strides[axis] == len);
        // The output exists, so its elements can be counted.
        len *= size;
    }
    // SAFETY: the caller's promise; row-major operands are lines.
    unsafe {
        if row_major {
            run_contiguous(len, body);
        } else {
            run_threaded(len, &Walk::new(sizes, strides), body);
        }
    }
}
