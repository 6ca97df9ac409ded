//! A kernel's inner loop and its operands as a loop body for the engine: gathers operands that are not contiguous, transposes tiles, and
//! writes large results with non-temporal stores.
//!
//! Uses inner loops and copying; used by the elementwise operations.

use super::engine::{Body, copy_nanoseconds, visit_tiles};
use super::inner::{self, Inner};
use super::non_temporal::{self, Staging};
use super::simd;
use super::walk::{Run, Walk, side};
use super::{compiled, copying};
use crate::dtype::Element;
use crate::ops::kernel::{Map1, Map2, Map3};

/// Lines of a large result shorter than this are written with ordinary stores.
const LINE: usize = Staging::BYTES;

/// A kernel's inner loop and its operands.
#[derive(Clone, Copy)]
pub(super) struct KernelBody<const N: usize> {
    inner: Inner<N>,
    kernel: *const (),
    places: [*mut u8; N],
    /// The size of each operand's element in bytes.
    sizes: [usize; N],
    /// Whether the loop would not vectorise in place, so that the operand is copied to a buffer first.
    needs_copy_in_place: bool,
    /// Whether the loop is bound by computation, not by memory.
    is_compute_bound: bool,
    /// Whether long lines of the result are written with non-temporal stores.
    non_temporal: bool,
}

impl KernelBody<2> {
    /// `out = kernel(a)`
    #[inline(always)]
    pub(super) fn one<K: Map1<A, O>, A: Element, O: Element>(kernel: &K, out: *mut O, a: *const A) -> Self {
        KernelBody {
            inner: const { compiled::one::<K, A, O>() },
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>()],
            needs_copy_in_place: K::HAS_FAST_PATH,
            is_compute_bound: K::IS_COMPUTE_BOUND,
            non_temporal: false,
        }
    }
}

impl KernelBody<3> {
    /// `out = kernel(a, b)`
    #[inline(always)]
    pub(super) fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
        kernel: &K,
        out: *mut O,
        a: *const A,
        b: *const B,
    ) -> Self {
        KernelBody {
            inner: const { compiled::two::<K, A, B, O>() },
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast(), b.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>(), size_of::<B>()],
            needs_copy_in_place: false,
            is_compute_bound: false,
            non_temporal: false,
        }
    }
}

impl KernelBody<4> {
    /// `out = kernel(a, b, c)`
    #[inline(always)]
    pub(super) fn three<K: Map3<A, B, C, O>, A: Element, B: Element, C: Element, O: Element>(
        kernel: &K,
        out: *mut O,
        (a, b, c): (*const A, *const B, *const C),
    ) -> Self {
        KernelBody {
            inner: inner::three::<K, A, B, C, O>,
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast(), b.cast_mut().cast(), c.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>(), size_of::<B>(), size_of::<C>()],
            needs_copy_in_place: false,
            is_compute_bound: false,
            non_temporal: false,
        }
    }
}

impl<const N: usize> KernelBody<N> {
    /// Whether a result of so many elements is written with non-temporal stores. Results in place are in the caches
    /// already.
    #[inline(always)]
    fn is_large(&self, total: usize) -> bool {
        non_temporal::pays_off(total * self.sizes[0]) && self.places[0] != self.places[1]
    }

    /// Pointers to element `at` of a run, one for each operand.
    #[inline(always)]
    fn places(&self, run: &Run<N>, at: usize) -> [*mut u8; N] {
        core::array::from_fn(|operand| {
            self.places[operand].wrapping_add((run.starts[operand] + at * run.steps[operand]) * self.sizes[operand])
        })
    }

    /// Runs the loop in chunks: non-contiguous operands are gathered into buffers first; a non-contiguous or
    /// non-temporal result is written from a buffer.
    ///
    /// # Safety
    /// As for `run`.
    #[inline(never)]
    unsafe fn by_pieces(self, run: Run<N>, non_temporal: bool) {
        let mut buffers: [Staging; N] = core::array::from_fn(|_| Staging::new());
        let buffers = buffers.each_mut().map(|buffer| buffer.start::<u8>());
        let capacity = Staging::BYTES / self.sizes.iter().fold(1, |most, &size| most.max(size));
        let elsewhere = run.steps[0] != 1 || non_temporal || self.places[0] == self.places[1];
        let mut at = 0;
        while at < run.len {
            let len = capacity.min(run.len - at);
            let places = self.places(&run, at);
            let mut given = places;
            // SAFETY: the caller's promise; a buffer holds as many elements.
            unsafe {
                for operand in 1..N {
                    let (width, step) = (self.sizes[operand], run.steps[operand]);
                    if step != 1 {
                        given[operand] = buffers[operand];
                        // A broadcast element is gathered once, for the first chunk.
                        if step != 0 || at == 0 {
                            copying::copy_strided(width, len, (buffers[operand], 1), (places[operand], step));
                        }
                    }
                }
                if elsewhere {
                    given[0] = buffers[0];
                }
                (self.inner)(self.kernel, given, len);
                if elsewhere {
                    if non_temporal {
                        non_temporal::store(places[0], buffers[0], len * self.sizes[0]);
                    } else {
                        copying::copy_strided(self.sizes[0], len, (places[0], run.steps[0]), (buffers[0], 1));
                    }
                }
            }
            at += len;
        }
        if non_temporal {
            non_temporal::fence();
        }
    }

    /// Runs a tile, transposing operands that run across it so that their lines match the result's.
    ///
    /// # Safety
    /// As for `tile`.
    #[inline(never)]
    unsafe fn transposed_tile(mut self, mut starts: [usize; N], mut steps: [[usize; N]; 2], lines: usize, len: usize) {
        let side = self.side();
        let mut buffers: [copying::TransposeTile; N] = core::array::from_fn(|_| copying::TransposeTile::new());
        // SAFETY: the caller's promise; only tiles have several lines, and those are no larger than `side`.
        unsafe {
            for operand in 1..N {
                if steps[0][operand] == 1 && steps[1][operand] > 1 {
                    let (width, step) = (self.sizes[operand], steps[1][operand]);
                    let from = self.places[operand].add(starts[operand] * width);
                    self.places[operand] = buffers[operand].transpose(width, side, from, step, [lines, len]);
                    (starts[operand], steps[0][operand], steps[1][operand]) = (0, side, 1);
                }
            }
            for line in 0..lines {
                let starts = core::array::from_fn(|operand| starts[operand] + line * steps[0][operand]);
                self.run(Run { starts, len, steps: steps[1] });
            }
        }
    }
}

impl<const N: usize> Body<N> for KernelBody<N> {
    #[inline(always)]
    fn nanoseconds(&self, len: usize) -> usize {
        if self.is_compute_bound { len } else { copy_nanoseconds(len, self.sizes.iter().sum()) }
    }

    #[inline(always)]
    unsafe fn run(self, run: Run<N>) {
        let alike = run.steps == [1; N] || run.len == 1;
        // SAFETY: the caller's promise; whoever made it put kernel, loop and operands together.
        unsafe {
            if self.non_temporal && run.steps[0] == 1 && run.len * self.sizes[0] >= LINE {
                self.by_pieces(run, true);
            } else if alike && !(self.needs_copy_in_place && self.places[0] == self.places[1]) {
                (self.inner)(self.kernel, self.places(&run, 0), run.len);
            } else {
                self.by_pieces(run, false);
            }
        }
    }

    fn side(&self) -> usize {
        side(self.sizes.iter().fold(0, |widest, &size| widest.max(size)))
    }

    #[inline(always)]
    fn prefetch_line(&self, run: Run<N>) {
        let places = self.places(&run, 0);
        for (operand, place) in places.into_iter().enumerate().skip(1) {
            if run.steps[operand] == 1 {
                simd::prefetch_row(place.cast_const(), run.len * self.sizes[operand]);
            }
        }
    }

    #[inline(always)]
    unsafe fn single_loop(self, run: Run<N>, total: usize) {
        let non_temporal = self.is_large(total) && run.steps[0] == 1;
        // SAFETY: the caller's promise.
        unsafe {
            if non_temporal {
                self.by_pieces(run, true);
            } else {
                self.run(run);
            }
        }
    }

    #[inline(always)]
    unsafe fn contiguous(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.needs_copy_in_place && self.places[0] == self.places[1] {
                self.by_pieces(Run { starts: [0; N], len, steps: [1; N] }, false);
            } else {
                (self.inner)(self.kernel, self.places, len);
            }
        }
    }

    #[inline(never)]
    unsafe fn whole_walk(mut self, walk: &Walk<N>, total: usize) {
        self.non_temporal = self.is_large(total);
        // SAFETY: the caller's promise.
        unsafe { visit_tiles(walk, self) }
    }

    #[inline(always)]
    unsafe fn tile(self, starts: [usize; N], steps: [[usize; N]; 2], lines: usize, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if lines == 1 {
                self.run(Run { starts, len, steps: steps[1] });
            } else {
                self.transposed_tile(starts, steps, lines, len);
            }
        }
    }
}
