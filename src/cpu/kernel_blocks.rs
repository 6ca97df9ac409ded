//! Runs a kernel's loop over operands that it cannot take directly: in blocks that are gathered, converted or transposed first.

use super::engine::Body;
use super::kernel_body::KernelBody;
use super::lines;
use super::non_temporal::{self, Staging};
use super::simd;
use super::tiles::TransposeTile;
use super::walk::Run;

/// From this many bytes on, a run starts at a cache line of the result, so that no store crosses lines.
const LONG: usize = 16 << 10;

/// Buffers for a part of each operand.
type Buffers<const N: usize> = [Staging; N];

impl<const N: usize> KernelBody<N> {
    /// Runs the loop once over lines that fit the buffers: non-contiguous operands are gathered first, unless `kept` says that their
    /// buffers hold them already; operands of other dtypes are converted; a result that is not contiguous or not of the loop's dtype is
    /// written from a buffer.
    ///
    /// # Safety
    /// As for `run`, for every line.
    #[inline(always)]
    unsafe fn block(
        &self,
        buffers: &mut Buffers<N>,
        (places, steps): ([*mut u8; N], [[usize; N]; 2]),
        [lines, len]: [usize; 2],
        kept: [bool; N],
        non_temporal: bool,
    ) {
        let (total, mut given) = (lines * len, places);
        let beside = if lines == 1 { self.beside_element(steps[1]) } else { None };
        let is_dense = |operand: usize| steps[1][operand] == 1 && (lines == 1 || steps[0][operand] == len);
        // SAFETY: the caller's promise; a buffer has room for all lines.
        unsafe {
            for operand in 1..N {
                if !is_dense(operand) && beside.is_none_or(|(_, one, _)| one != operand) {
                    given[operand] = buffers[operand].start();
                    if !kept[operand] {
                        let steps = [steps[0][operand], steps[1][operand]];
                        lines::gather(self.sizes[operand], [lines, len], given[operand], places[operand], steps);
                    }
                }
            }
            if !is_dense(0) || non_temporal || !self.writes_directly() {
                given[0] = buffers[0].start();
            }
            match beside {
                Some((inner, one, other)) => inner(given[one].cast_const().cast(), [given[0], given[other]], total),
                None => self.call(given, total),
            }
            if given[0] != places[0] {
                if non_temporal {
                    non_temporal::store(places[0], given[0], total * self.sizes[0]);
                } else {
                    lines::spread(self.sizes[0], [lines, len], places[0], given[0], [steps[0][0], steps[1][0]]);
                }
            }
        }
    }

    /// Calls the loop for contiguous operands, converting them before and the result after it.
    ///
    /// # Safety
    /// As for `run`; if there are conversions, `len` does not exceed a buffer.
    #[inline(always)]
    unsafe fn call(&self, given: [*mut u8; N], len: usize) {
        #[cfg(feature = "any")]
        if self.converts() {
            // SAFETY: the caller's promise.
            return unsafe { self.converting(given, len) };
        }
        // SAFETY: the caller's promise; the body's maker combined matching kernel, loop and operands.
        unsafe { (self.inner)(self.kernel, given, len) }
    }

    #[cfg(feature = "any")]
    #[inline(never)]
    unsafe fn converting(&self, mut given: [*mut u8; N], len: usize) {
        // SAFETY: the casts outlive the body, and are present if anything is converted.
        let casts = unsafe { &*self.casts };
        let (mut buffers, mut between): (Buffers<N>, Staging) =
            (core::array::from_fn(|_| Staging::new()), Staging::new());
        let (result, between) = (given[0], between.start::<u8>());
        // SAFETY: the caller's promise; a buffer has room for `len` of the largest elements.
        unsafe {
            for operand in 1..N {
                if let Some(cast) = &casts[operand] {
                    let to = buffers[operand].start();
                    cast.run(given[operand], to, between, len);
                    given[operand] = to;
                }
            }
            if let Some(cast) = &casts[0] {
                given[0] = buffers[0].start();
                (self.inner)(self.kernel, given, len);
                cast.run(given[0], result, between, len);
            } else {
                (self.inner)(self.kernel, given, len);
            }
        }
    }

    /// Calls the loop for contiguous places directly. In long runs the elements before the result's first cache line come first: stores
    /// that cross lines take twice as long.
    ///
    /// # Safety
    /// As for `run`; nothing is converted.
    #[inline(always)]
    pub(super) unsafe fn long(&self, mut places: [*mut u8; N], mut len: usize) {
        // SAFETY: the caller's promise; the body's maker combined matching kernel, loop and operands.
        unsafe {
            if len * self.sizes[0] >= LONG {
                let before = places[0].align_offset(64) / self.sizes[0];
                if before > 0 {
                    (self.inner)(self.kernel, places, before);
                    for (place, size) in places.iter_mut().zip(self.sizes) {
                        *place = place.add(before * size);
                    }
                    len -= before;
                }
            }
            (self.inner)(self.kernel, places, len);
        }
    }

    /// Runs lines that the loop takes directly, or the loop beside an element: what they have in common is decided once.
    ///
    /// # Safety
    /// As for `lines`; they are [uniform](Body::is_uniform).
    #[inline(never)]
    pub(super) unsafe fn uniform_lines(self, starts: [usize; N], steps: [[usize; N]; 2], [lines, len]: [usize; 2]) {
        let first = Run { starts, len, steps: steps[1] };
        let (mut places, beside) = (self.places(&first, 0), self.beside_element(steps[1]));
        for _ in 0..lines {
            // SAFETY: the caller's promise.
            unsafe {
                match beside {
                    Some((inner, one, other)) => {
                        inner(places[one].cast_const().cast(), [places[0], places[other]], len)
                    }
                    None => self.long(places, len),
                }
            }
            for operand in 0..N {
                places[operand] = places[operand].wrapping_add(steps[0][operand] * self.sizes[operand]);
            }
        }
    }

    /// Runs the loop in chunks of a long run.
    ///
    /// # Safety
    /// As for `run`. After non-temporal stores, the caller calls [`non_temporal::fence`].
    #[inline(never)]
    pub(super) unsafe fn by_pieces(self, run: Run<N>, non_temporal: bool) {
        let mut buffers: Buffers<N> = core::array::from_fn(|_| Staging::new());
        // Strided operands, and a single contiguous one with non-temporal stores, are prefetched one chunk ahead: the hardware prefetcher
        // does not keep up where reads and writes alternate. (With two contiguous operands it does.)
        let steps = (1..N).any(|operand| run.steps[operand] > 1);
        let contiguous = non_temporal && N == 2;
        let (capacity, mut at) = (if steps { self.capacity() / 2 } else { self.capacity() }, 0);
        while at < run.len {
            let len = capacity.min(run.len - at);
            if (steps || contiguous) && run.len - at > len {
                self.prefetch_chunk(&run, at + len, len.min(run.len - at - len), contiguous);
            }
            // A broadcast element is gathered once, for the first chunk.
            let mut kept = [false; N];
            for (kept, step) in kept.iter_mut().zip(run.steps) {
                *kept = at > 0 && step == 0;
            }
            // SAFETY: the caller's promise.
            unsafe {
                self.block(&mut buffers, (self.places(&run, at), [[0; N], run.steps]), [1, len], kept, non_temporal);
            }
            at += len;
        }
    }

    /// Prefetches `len` elements from `at` on of strided operands, and of contiguous ones if `contiguous`.
    #[inline(always)]
    fn prefetch_chunk(&self, run: &Run<N>, at: usize, len: usize, contiguous: bool) {
        for (operand, place) in self.places(run, at).into_iter().enumerate().skip(1) {
            let step = run.steps[operand];
            if step > 1 || step == 1 && contiguous {
                simd::prefetch_steps(place.cast_const(), len, step * self.sizes[operand]);
            }
        }
    }

    /// Runs short lines, as many at once as fit the buffers.
    ///
    /// # Safety
    /// As for `run`, for every line; a buffer holds a line.
    #[inline(never)]
    pub(super) unsafe fn by_lines(self, starts: [usize; N], steps: [[usize; N]; 2], [lines, len]: [usize; 2]) {
        let mut buffers: Buffers<N> = core::array::from_fn(|_| Staging::new());
        let (most, mut top) = ((self.capacity() / len).max(1), 0);
        // Adjacent lines of a large result use non-temporal stores, too.
        let non_temporal = self.non_temporal && [steps[0][0], steps[1][0]] == [len, 1];
        // From line to line.
        let down = Run { starts, len: lines, steps: steps[0] };
        while top < lines {
            let count = most.min(lines - top);
            // A line that is the same for the whole result is gathered once.
            let mut kept = [false; N];
            for (kept, step) in kept.iter_mut().zip(steps[0]) {
                *kept = top > 0 && step == 0;
            }
            // SAFETY: the caller's promise.
            unsafe { self.block(&mut buffers, (self.places(&down, top), steps), [count, len], kept, non_temporal) };
            top += count;
        }
    }

    /// Runs a tile, transposing the operands that are contiguous across it so that their lines match the result's.
    ///
    /// # Safety
    /// As for `tile`.
    #[inline(never)]
    pub(super) unsafe fn transposed_tile(
        mut self,
        mut starts: [usize; N],
        mut steps: [[usize; N]; 2],
        lines: usize,
        len: usize,
    ) {
        let mut buffers: [TransposeTile; N] = core::array::from_fn(|_| TransposeTile::new());
        // Prefetches the next tile of the operands that are contiguous along the lines: the hardware prefetcher sees no pattern in such
        // distances.
        for operand in 0..N {
            if steps[1][operand] == 1 && steps[0][operand] > len {
                let (size, bytes) = (self.sizes[operand], len * self.sizes[operand]);
                let next = self.places[operand].wrapping_add(starts[operand] * size + bytes).cast_const();
                for line in 0..lines {
                    let next = next.wrapping_add(line * steps[0][operand] * size);
                    simd::prefetch(next);
                    simd::prefetch(next.wrapping_add(bytes / 2));
                }
            }
        }
        // SAFETY: the caller's promise; only tiles have several lines, and a tile fits the buffer.
        unsafe {
            for operand in 1..N {
                if steps[0][operand] == 1 && steps[1][operand] > 1 {
                    let (width, step) = (self.sizes[operand], steps[1][operand]);
                    let from = self.places[operand].add(starts[operand] * width);
                    self.places[operand] = buffers[operand].transpose(width, from, step, [lines, len]);
                    (starts[operand], steps[0][operand], steps[1][operand]) = (0, len, 1);
                }
            }
            Body::lines(self, starts, steps, [lines, len]);
        }
    }
}
