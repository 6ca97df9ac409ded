//! Runs a loop body along a walk: tile by tile where an operand is transposed, on several threads where that pays off.

use super::threads::{self, Shared};
use super::walk::{Planes, Run, Walk};

/// The inner loop over `N` operands, the first of which is written.
pub(super) trait Body<const N: usize>: Copy {
    /// A rough time estimate for `len` elements.
    fn nanoseconds(&self, len: usize) -> usize;

    /// # Safety
    /// All places that the run reaches are valid; nobody else reads or writes those of the first operand.
    unsafe fn run(self, run: Run<N>);

    /// Runs a tile of several lines: `steps` from line to line and from element to element.
    ///
    /// # Safety
    /// As for `run`, for every line.
    #[inline(always)]
    unsafe fn tile(self, starts: [usize; N], steps: [[usize; N]; 2], lines: usize, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.lines(starts, steps, [lines, len]) }
    }

    /// The lines of a tile, and their length.
    fn tile_size(&self) -> [usize; 2];

    /// Lines of up to this many elements are passed to [`lines`](Self::lines), several at a time.
    fn short_line(&self) -> usize {
        0
    }

    /// Whether lines with these steps, however long, are best passed to [`lines`](Self::lines).
    fn is_uniform(&self, _: [usize; N]) -> bool {
        false
    }

    /// Runs several lines: `steps` from line to line and from element to element.
    ///
    /// # Safety
    /// As for `run`, for every line.
    #[inline(always)]
    unsafe fn lines(self, starts: [usize; N], steps: [[usize; N]; 2], [lines, len]: [usize; 2]) {
        for line in 0..lines {
            let starts = core::array::from_fn(|operand| starts[operand] + line * steps[0][operand]);
            // SAFETY: the caller's promise.
            unsafe { self.run(Run { starts, len, steps: steps[1] }) }
        }
    }

    /// Whether tiles are visited in the order of the transposed operand instead of the result's.
    fn follows_operand(&self) -> bool {
        false
    }

    /// Prefetches the operands of a line.
    fn prefetch_line(&self, run: Run<N>);

    /// Runs a walk that is a single inner loop, as most are; the whole result has `total` elements.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn single_loop(self, run: Run<N>, total: usize);

    /// Runs a short, contiguous loop.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn contiguous(self, len: usize);

    /// Runs every inner loop of a walk; the whole result has `total` elements.
    ///
    /// # Safety
    /// As for `run`, for every place that the walk reaches.
    unsafe fn whole_walk(self, walk: &Walk<N>, total: usize);

    /// Calls [`run_threaded`]. A body whose type names no kernel and no element has this compiled once, in this crate.
    ///
    /// # Safety
    /// As there.
    unsafe fn threaded(self, len: usize, walk: &Walk<N>) {
        // SAFETY: the caller's promise.
        unsafe { run_threaded(len, walk, self) }
    }
}

/// Estimated nanoseconds for copying `len` elements of `bytes` bytes: memory delivers about 64 bytes per nanosecond.
pub(super) fn copy_nanoseconds(len: usize, bytes: usize) -> usize {
    len / 64 * bytes
}

/// Lines of prefetch distance where the hardware prefetcher sees no pattern.
const AHEAD: usize = 4;

/// Tiles per side of a block; blocks are visited one after the other.
const TILES: usize = 4;

/// Lines of a tile and their length for a plane of this size: as wanted, unless the plane is narrower.
#[inline(always)]
fn tile_of(tile: [usize; 2], [lines, len]: [usize; 2]) -> [usize; 2] {
    let all = tile[0] * tile[1];
    if len < tile[1] {
        [all / len.max(1), len]
    } else if lines < tile[0] {
        [lines, all / lines.max(1)]
    } else {
        tile
    }
}

/// Runs the body for every inner loop of a walk.
///
/// # Safety
/// As for [`Body::run`], for every place that the walk reaches.
#[inline(always)]
pub(super) unsafe fn visit_tiles<B: Body<N>, const N: usize>(walk: &Walk<N>, body: B) {
    let Planes { outer, sizes, steps, is_tiled } = walk.planes();
    let tile = if is_tiled { tile_of(body.tile_size(), sizes) } else { [1, sizes[1]] };
    for run in outer {
        let is_far = || sizes[1] <= SMALL && run.steps[1..].iter().any(|&step| step > 2 * sizes[1]);
        if !is_tiled && run.len > 1 && (sizes[1] <= body.short_line() || body.is_uniform(steps[1]) && !is_far()) {
            // SAFETY: the caller's promise.
            unsafe { body.lines(run.starts, [run.steps, steps[1]], [run.len, sizes[1]]) }
            continue;
        }
        let prefetches = !is_tiled && is_far();
        for plane in 0..run.len {
            let start = |operand: usize| run.starts[operand] + plane * run.steps[operand];
            let start: [usize; N] = core::array::from_fn(start);
            if prefetches && plane + AHEAD < run.len {
                let starts = core::array::from_fn(|operand| start[operand] + AHEAD * run.steps[operand]);
                body.prefetch_line(Run { starts, len: sizes[1], steps: steps[1] });
            }
            // Blocks of tiles keep the pages of all operands in the TLB. (`while` loops, because `step_by` costs a division.)
            let blocks = if is_tiled { [TILES * tile[0], TILES * tile[1]] } else { sizes };
            let mut corner = [0, 0];
            while corner[0] < sizes[0] {
                corner[1] = 0;
                while corner[1] < sizes[1] {
                    let end = [sizes[0].min(corner[0] + blocks[0]), sizes[1].min(corner[1] + blocks[1])];
                    let tile_at = |top: usize, left: usize| {
                        let (lines, len) = (tile[0].min(end[0] - top), tile[1].min(end[1] - left));
                        let place =
                            |operand: usize| start[operand] + top * steps[0][operand] + left * steps[1][operand];
                        // SAFETY: the caller's promise.
                        unsafe { body.tile(core::array::from_fn(place), steps, lines, len) }
                    };
                    if is_tiled && body.follows_operand() {
                        for left in (corner[1]..end[1]).step_by(tile[1]) {
                            for top in (corner[0]..end[0]).step_by(tile[0]) {
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

/// Runs a body along a walk over `len` elements, on as many threads as pay off.
///
/// # Safety
/// Each run of the walk fulfils the contract of [`Body::run`]; no element is written twice.
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

/// Up to this many elements, the fixed cost of a call matters more than threads or caches.
pub(super) const SMALL: usize = 2048;

/// Runs a body over `len` elements that are contiguous in every operand.
///
/// # Safety
/// As for [`run_threaded`].
#[inline(always)]
pub(super) unsafe fn run_contiguous<B: Body<N>, const N: usize>(len: usize, body: B) {
    // SAFETY: the caller's promise.
    unsafe {
        if len <= SMALL {
            body.contiguous(len);
        } else {
            body.threaded(len, &Walk::line(len));
        }
    }
}

/// Runs a body over a new result and its operands; without a walk if all strides are equal.
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
    // SAFETY: the caller's promise. The result has no gaps, so operands with the same strides are contiguous too.
    unsafe {
        if strides[1..].iter().any(|operand| *operand != strides[0]) {
            body.threaded(len, &Walk::new(sizes, strides));
        } else {
            run_contiguous(len, body);
        }
    }
}

/// Runs a body over an existing output and its operands; without a walk if all are row-major.
///
/// # Safety
/// As for [`run_threaded`].
#[inline]
pub(super) unsafe fn run_into<B: Body<N>, const N: usize>(sizes: &[usize], strides: [&[usize]; N], body: B) {
    let mut len = 1;
    let mut row_major = true;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        row_major &= strides.iter().all(|strides| strides[axis] == len);
        // The output exists, so its number of elements does not overflow.
        len *= size;
    }
    // SAFETY: the caller's promise; row-major operands are contiguous.
    unsafe {
        if row_major {
            run_contiguous(len, body);
        } else {
            body.threaded(len, &Walk::new(sizes, strides));
        }
    }
}
