//! A kernel's inner loop with its operands as an engine body: gathers non-contiguous operands, several short lines at once, converts other
//! dtypes, transposes tiles, and writes large results with non-temporal stores.

use super::compiled::{self, BesideElement};
use super::engine::{Body, copy_nanoseconds, run_threaded, visit_tiles};
#[cfg(feature = "any")]
use super::erased::{Cast, ErasedOperand};
use super::inner::{self, Inner};
use super::non_temporal::{self, Staging};
use super::simd;
use super::tiles::TransposeTile;
use super::walk::{Run, Walk};
use crate::dtype::Element;
use crate::ops::kernel::{Map1, Map2, Map3};

/// Lines of a large result shorter than this are written with ordinary stores.
const LINE: usize = Staging::BYTES;

/// Minimum line length for which calling the loop per line pays off, where no operand needs a buffer.
const DIRECT: usize = 64;

/// The same where one operand is an element that is repeated along the line.
const BESIDE: usize = 256;

/// A kernel's inner loop and its operands.
#[derive(Clone, Copy)]
pub(super) struct KernelBody<const N: usize> {
    pub(super) inner: Inner<N>,
    pub(super) kernel: *const (),
    pub(super) places: [*mut u8; N],
    /// The size of each operand's element in bytes.
    pub(super) sizes: [usize; N],
    /// Whether the loop would not vectorise in place, so that the operand is copied to a buffer first.
    pub(super) needs_copy_in_place: bool,
    /// Whether the loop is compute-bound rather than memory-bound.
    pub(super) is_compute_bound: bool,
    /// Whether the kernel runs on the caller's thread alone.
    pub(super) is_sequential: bool,
    /// Whether long lines of the result are written with non-temporal stores.
    pub(super) non_temporal: bool,
    /// Bytes of the largest element, including those between two conversions.
    pub(super) widest: usize,
    /// The loop for runs with one constant operand.
    pub(super) beside_element: Option<BesideElement>,
    /// The conversion of each operand before the loop, and of the result after it; null if there is none.
    #[cfg(feature = "any")]
    pub(super) casts: *const [Option<Cast>; N],
}

/// The maximum of sizes in bytes.
const fn widest(sizes: &[usize]) -> usize {
    let (mut most, mut at) = (1, 0);
    while at < sizes.len() {
        most = if sizes[at] > most { sizes[at] } else { most };
        at += 1;
    }
    most
}

impl KernelBody<2> {
    /// `out = kernel(a)`
    #[inline(always)]
    pub(super) fn one<K: Map1<A, O>, A: Element, O: Element>(kernel: &K, out: *mut O, a: *const A) -> Self {
        KernelBody {
            inner: compiled::one_or_widened::<K, A, O>(),
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>()],
            needs_copy_in_place: false,
            is_compute_bound: K::IS_COMPUTE_BOUND,
            is_sequential: false,
            non_temporal: false,
            widest: widest(&[size_of::<O>(), size_of::<A>()]),
            beside_element: None,
            #[cfg(feature = "any")]
            casts: core::ptr::null(),
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
            inner: compiled::two_or_widened::<K, A, B, O>(),
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast(), b.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>(), size_of::<B>()],
            needs_copy_in_place: false,
            is_compute_bound: false,
            is_sequential: false,
            non_temporal: false,
            widest: widest(&[size_of::<O>(), size_of::<A>(), size_of::<B>()]),
            beside_element: const { compiled::beside_element::<K, A, B, O>() },
            #[cfg(feature = "any")]
            casts: core::ptr::null(),
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
            is_sequential: false,
            non_temporal: false,
            widest: widest(&[size_of::<O>(), size_of::<A>(), size_of::<B>(), size_of::<C>()]),
            beside_element: None,
            #[cfg(feature = "any")]
            casts: core::ptr::null(),
        }
    }
}

impl<const N: usize> KernelBody<N> {
    /// The loop of a closure: several threads call it, or `is_sequential`.
    pub(super) fn of_closure(
        inner: Inner<N>,
        kernel: *const (),
        places: [*mut u8; N],
        sizes: [usize; N],
        is_sequential: bool,
    ) -> Self {
        KernelBody {
            inner,
            kernel,
            places,
            sizes,
            needs_copy_in_place: false,
            is_compute_bound: true,
            is_sequential,
            non_temporal: false,
            widest: widest(&sizes),
            beside_element: None,
            #[cfg(feature = "any")]
            casts: core::ptr::null(),
        }
    }

    /// A loop whose operand dtypes are known at run time only, with conversions; `casts` outlives the body.
    #[cfg(feature = "any")]
    pub(super) fn erased(
        inner: Inner<N>,
        kernel: *const (),
        places: &[ErasedOperand; N],
        casts: &[Option<Cast>; N],
        beside_element: Option<BesideElement>,
        is_compute_bound: bool,
    ) -> Self {
        let sizes = places.each_ref().map(|place| place.width);
        let widest = casts.iter().flatten().fold(widest(&sizes), |most, cast| most.max(cast.widest()));
        let places = places.each_ref().map(|place| place.start);
        KernelBody {
            inner,
            kernel,
            places,
            sizes,
            // Long formulas of one operand may have a fast path; no operand but the first may alias the result.
            needs_copy_in_place: N == 2 && is_compute_bound || places[2..].contains(&places[0]),
            is_compute_bound,
            is_sequential: false,
            non_temporal: false,
            widest,
            beside_element,
            casts: if casts.iter().any(Option::is_some) { casts } else { core::ptr::null() },
        }
    }

    /// Whether operands or the result are converted.
    #[inline(always)]
    pub(super) fn converts(&self) -> bool {
        #[cfg(feature = "any")]
        return !self.casts.is_null();
        #[cfg(not(feature = "any"))]
        false
    }

    /// Whether an operand is the result's memory.
    #[inline(always)]
    fn is_in_place(&self) -> bool {
        self.places[1..].contains(&self.places[0])
    }

    /// Whether the loop may read and write these places directly, if they are contiguous.
    #[inline(always)]
    pub(super) fn is_direct(&self) -> bool {
        !(self.converts() || self.needs_copy_in_place && self.is_in_place())
    }

    /// Whether the loop may write these places directly, if they are contiguous. (Between the steps of a conversion elements may be wider.)
    #[inline(always)]
    pub(super) fn writes_directly(&self) -> bool {
        #[cfg(feature = "any")]
        if self.converts() {
            // SAFETY: the casts outlive the body, and are present if anything is converted.
            let is_converted = unsafe { (*self.casts)[0].is_some() };
            return !(is_converted || self.needs_copy_in_place && self.is_in_place());
        }
        self.is_direct()
    }

    /// The loop for a run in which one operand is constant, if there is one; the index of the constant operand, and of the other.
    #[inline(always)]
    pub(super) fn beside_element(&self, steps: [usize; N]) -> Option<(Inner<2>, usize, usize)> {
        let BesideElement { inner, commutes } = self.beside_element?;
        if N != 3 || !self.is_direct() {
            return None;
        }
        match steps[1..] {
            [1, 0] => Some((inner, 2, 1)),
            [0, 1] if commutes => Some((inner, 1, 2)),
            _ => None,
        }
    }

    /// Whether a result of `total` elements is written with non-temporal stores. Results in place are cached already.
    #[inline(always)]
    fn is_large(&self, total: usize) -> bool {
        non_temporal::pays_off(total * self.sizes[0]) && !self.is_in_place()
    }

    /// Elements per buffer.
    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        Staging::BYTES / self.widest
    }

    /// Pointers to element `at` of a run, one for each operand.
    #[inline(always)]
    pub(super) fn places(&self, run: &Run<N>, at: usize) -> [*mut u8; N] {
        core::array::from_fn(|operand| {
            self.places[operand].wrapping_add((run.starts[operand] + at * run.steps[operand]) * self.sizes[operand])
        })
    }
}

impl<const N: usize> Body<N> for KernelBody<N> {
    #[inline(always)]
    fn nanoseconds(&self, len: usize) -> usize {
        if self.is_sequential {
            return 0;
        }
        if self.is_compute_bound {
            return len;
        }
        let moving = copy_nanoseconds(len, self.sizes.iter().sum());
        // Conversions, including those of half precision, take longer than the bytes suggest.
        if self.converts() || self.sizes[1] == 2 { moving.max(len / 8) } else { moving }
    }

    #[inline(always)]
    unsafe fn run(self, run: Run<N>) {
        let alike = run.steps == [1; N] || run.len == 1;
        // SAFETY: the caller's promise; the body's maker combined matching kernel, loop and operands.
        unsafe {
            if self.non_temporal && run.steps[0] == 1 && run.len * self.sizes[0] >= LINE {
                self.by_pieces(run, true);
            } else if alike && self.is_direct() {
                self.long(self.places(&run, 0), run.len);
            } else if run.steps[0] == 1
                && let Some((inner, one, other)) = self.beside_element(run.steps)
            {
                let places = self.places(&run, 0);
                inner(places[one].cast_const().cast(), [places[0], places[other]], run.len);
            } else {
                self.by_pieces(run, false);
            }
        }
    }

    #[inline(always)]
    fn tile_size(&self) -> [usize; 2] {
        TransposeTile::sizes(widest(&self.sizes))
    }

    fn short_line(&self) -> usize {
        self.capacity() / 2
    }

    #[inline(always)]
    fn is_uniform(&self, steps: [usize; N]) -> bool {
        let alike = steps == [1; N] && self.is_direct();
        !self.non_temporal && steps[0] == 1 && (alike || self.beside_element(steps).is_some())
    }

    #[inline(always)]
    unsafe fn lines(self, starts: [usize; N], steps: [[usize; N]; 2], [lines, len]: [usize; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            // (Lines that run on, beside lines that are the same for all: these are copied once, and the loop is called for many lines.)
            let runs_on = |operand: usize| steps[0][operand] == len || operand > 0 && steps[0][operand] == 0;
            let is_direct = || steps[1] == [1; N] && self.is_direct() && !(0..N).all(runs_on);
            // (An element that is repeated along a line has a loop.)
            let is_beside =
                || len >= BESIDE && !self.non_temporal && steps[1][0] == 1 && self.beside_element(steps[1]).is_some();
            if len >= DIRECT && self.is_uniform(steps[1]) && (is_direct() || is_beside() || 2 * len > self.capacity()) {
                self.uniform_lines(starts, steps, [lines, len]);
            } else if len > self.capacity() || len >= DIRECT && (is_direct() || is_beside()) {
                for line in 0..lines {
                    let starts = core::array::from_fn(|operand| starts[operand] + line * steps[0][operand]);
                    self.run(Run { starts, len, steps: steps[1] });
                }
            } else {
                self.by_lines(starts, steps, [lines, len]);
            }
        }
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
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_large(total) && run.steps[0] == 1 {
                self.by_pieces(run, true);
                non_temporal::fence();
            } else {
                self.run(run);
            }
        }
    }

    #[inline(always)]
    unsafe fn contiguous(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_direct() {
                (self.inner)(self.kernel, self.places, len);
            } else {
                self.by_pieces(Run { starts: [0; N], len, steps: [1; N] }, false);
            }
        }
    }

    #[inline(never)]
    unsafe fn whole_walk(mut self, walk: &Walk<N>, total: usize) {
        self.non_temporal = self.is_large(total);
        // SAFETY: the caller's promise.
        unsafe { visit_tiles(walk, self) }
        if self.non_temporal {
            non_temporal::fence();
        }
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

    #[inline(always)]
    unsafe fn threaded(self, len: usize, walk: &Walk<N>) {
        // SAFETY: the caller's promise; `N` matches the concrete type.
        unsafe {
            let walk = core::ptr::from_ref(walk);
            if const { N == 2 } {
                threaded_two(len, &*walk.cast(), core::mem::transmute_copy(&self));
            } else if const { N == 3 } {
                threaded_three(len, &*walk.cast(), core::mem::transmute_copy(&self));
            } else if const { N == 4 } {
                threaded_four(len, &*walk.cast(), core::mem::transmute_copy(&self));
            } else {
                run_threaded(len, &*walk, self);
            }
        }
    }
}

/// [`run_threaded`] for kernels of one, two and three operands, compiled in this crate: a function generic even over a number would be
/// compiled in each program. Few programs have closures of four.
macro_rules! threaded {
    ($($name:ident $operands:literal),*) => {$(
        unsafe fn $name(len: usize, walk: &Walk<$operands>, body: KernelBody<$operands>) {
            // SAFETY: the caller's promise.
            unsafe { run_threaded(len, walk, body) }
        }
    )*};
}
threaded! { threaded_two 2, threaded_three 3, threaded_four 4 }
