//! Evaluates expressions in one pass, without intermediate tensors.
//!
//! Axes are put in the order of the result, merged where all leaves allow it, and visited in chunks. Leaves that are not contiguous are
//! gathered into a small buffer, so that one vectorised loop serves all layouts.

#![allow(
    clippy::needless_range_loop,
    reason = "iterators are many more functions, compiled for each operation and dtype"
)]

use super::compiled;
use super::elementwise::{result_len, target};
use super::fused_plan::{FusedPlan, HasStrides};
use super::non_temporal::{self, Staging};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides::is_contiguous;
use crate::ops::expression::{AXES, Expression, Loops, PIECE};
use crate::ops::formula::MOST_RESULTS;
use crate::ops::kernel::{Map1, Map2};
use crate::storage::{HostBuffer, Scratch, ViewMut};
use core::mem::MaybeUninit;

/// Runs the kernels' compiled loops.
#[derive(Clone, Copy)]
pub(super) struct Compiled;
impl Loops for Compiled {
    #[inline(always)]
    unsafe fn one<K: Map1<A, O>, A: Element, O: Element>(self, kernel: &K, a: *const A, out: *mut O, len: usize) {
        let places = [out.cast(), a.cast_mut().cast()];
        let inner = compiled::one_or_widened::<K, A, O>();
        // SAFETY: the caller's promise; the loop is the kernel's.
        unsafe { inner(core::ptr::from_ref(kernel).cast(), places, len) }
    }
    #[inline(always)]
    unsafe fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
        self,
        kernel: &K,
        (a, b): (*const A, *const B),
        out: *mut O,
        len: usize,
    ) {
        let places = [out.cast(), a.cast_mut().cast(), b.cast_mut().cast()];
        let inner = compiled::two_or_widened::<K, A, B, O>();
        // SAFETY: as above.
        unsafe { inner(core::ptr::from_ref(kernel).cast(), places, len) }
    }
}

/// A scratch buffer for the intermediate chunks of an expression.
pub(super) fn computed<X: Expression>() -> Option<Scratch<u8>> {
    (X::COMPUTED > 0).then(|| Scratch::new([X::COMPUTED]))
}

/// Chunk length where all leaves are contiguous.
#[inline(always)]
pub(super) const fn longest<X: Expression>() -> usize {
    if X::COMPUTED > 0 { PIECE } else { usize::MAX }
}

/// Consumes the elements of an expression.
trait Sink<E>: Copy + Send + Sync {
    /// Takes `len` elements for the places `step` apart from offset `at` on.
    ///
    /// # Safety
    /// These places are valid and nobody else's, and the expression's `places` have the elements.
    unsafe fn take<X: Expression<Elem = E>>(self, x: X, places: X::Places, at: usize, step: usize, len: usize);
}

/// Writes results. (Through a slice, which tells the compiler that nothing aliases them.)
#[inline(always)]
pub(super) fn fill<X: Expression>(x: X, places: X::Places, out: &mut [MaybeUninit<X::Elem>]) {
    fill_from(x, places, 0, out);
}

/// Writes results from element `first` on.
#[inline(always)]
fn fill_from<X: Expression>(x: X, places: X::Places, first: usize, out: &mut [MaybeUninit<X::Elem>]) {
    for i in 0..out.len() {
        // SAFETY: the caller promises an element of the expression for each place.
        out[i].write(unsafe { x.get(places, first + i) });
    }
}

/// Writes results with non-temporal stores.
#[derive(Clone, Copy)]
struct Write<O> {
    out: Shared<*mut O>,
    large: bool,
}
impl<O: Copy + Send + Sync> Sink<O> for Write<O> {
    #[inline(always)]
    unsafe fn take<X: Expression<Elem = O>>(self, x: X, places: X::Places, at: usize, step: usize, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let out = self.out.0.add(at);
            if self.large && step == 1 {
                let mut buffer = Staging::new();
                let capacity = Staging::capacity::<O>();
                let mut done = 0;
                while done < len {
                    let count = capacity.min(len - done);
                    fill_from(x, places, done, core::slice::from_raw_parts_mut(buffer.start(), count));
                    buffer.store(out.add(done), count);
                    done += count;
                }
                non_temporal::fence();
            } else if step == 1 {
                fill(x, places, core::slice::from_raw_parts_mut(out.cast(), len));
            } else {
                for i in 0..len {
                    out.add(i * step).write(x.get(places, i));
                }
            }
        }
    }
}

/// Writes several results, each to its own place.
#[derive(Clone, Copy)]
struct WriteEach<O, const N: usize>([Shared<*mut O>; N]);
impl<O: Copy + Send + Sync + 'static, const N: usize> Sink<[O; N]> for WriteEach<O, N> {
    #[inline(always)]
    unsafe fn take<X: Expression<Elem = [O; N]>>(self, x: X, places: X::Places, at: usize, step: usize, len: usize) {
        /// (Slices tell the compiler that nothing aliases them; the slice of a result that the expression does not have is empty. A closure
        /// would be compiled for the baseline instruction set.)
        #[inline(always)]
        fn fill<X: Expression<Elem = [O; N]>, O: Copy, const N: usize>(
            x: X,
            places: X::Places,
            len: usize,
            a: &mut [MaybeUninit<O>],
            b: &mut [MaybeUninit<O>],
            c: &mut [MaybeUninit<O>],
            d: &mut [MaybeUninit<O>],
        ) {
            const { assert!(N >= 2 && N <= MOST_RESULTS) }
            let (third, fourth) = (if N > 2 { len } else { 0 }, if N > 3 { len } else { 0 });
            let (a, b, c, d) = (&mut a[..len], &mut b[..len], &mut c[..third], &mut d[..fourth]);
            for i in 0..len {
                // SAFETY: `take`'s caller promises an element of the expression for each place.
                let all = unsafe { x.get(places, i) };
                a[i].write(all[0]);
                b[i].write(all[1]);
                if N > 2 {
                    c[i].write(all[2]);
                }
                if N > 3 {
                    d[i].write(all[3]);
                }
            }
        }
        // SAFETY: the caller's promise, for each of the results.
        unsafe {
            if step == 1 {
                let part = |result: usize| match self.0.get(result) {
                    Some(out) => core::slice::from_raw_parts_mut(out.0.add(at).cast(), len),
                    None => &mut [],
                };
                fill(x, places, len, part(0), part(1), part(2), part(3));
            } else {
                for i in 0..len {
                    let all = x.get(places, i);
                    for result in 0..N {
                        self.0[result].0.add(at + i * step).write(all[result]);
                    }
                }
            }
        }
    }
}

/// Updates the output: `out = kernel(out, element)`.
#[derive(Clone, Copy)]
struct Update<K, O>(K, Shared<*mut O>);
impl<B: Copy, O: Copy + Send + Sync, K: Map2<O, B, O>> Sink<B> for Update<K, O> {
    #[inline(always)]
    unsafe fn take<X: Expression<Elem = B>>(self, x: X, places: X::Places, at: usize, step: usize, len: usize) {
        #[inline(always)]
        fn change<B: Copy, O: Copy, K: Map2<O, B, O>, X: Expression<Elem = B>>(
            kernel: K,
            x: X,
            places: X::Places,
            out: &mut [O],
        ) {
            for i in 0..out.len() {
                // SAFETY: `take`'s caller promises an element of the expression for each place.
                out[i] = kernel.call(out[i], unsafe { x.get(places, i) });
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            let out = self.1.0.add(at);
            if step == 1 {
                change(self.0, x, places, core::slice::from_raw_parts_mut(out, len));
            } else {
                for i in 0..len {
                    let place = out.add(i * step);
                    place.write(self.0.call(place.read(), x.get(places, i)));
                }
            }
        }
    }
}

/// Every element of an expression.
struct EvaluateAll<'a, X, S> {
    plan: &'a FusedPlan,
    x: X,
    sink: S,
    /// The place of the first element.
    first: usize,
}
impl<X: Expression, S: Sink<X::Elem>> Loop for EvaluateAll<'_, X, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let EvaluateAll { plan, x, sink, first } = self;
        let (mut buffer, computed) = (X::buffers(), computed::<X>());
        let computed = computed.as_ref().map_or(core::ptr::null_mut(), Scratch::start);
        let inner = plan.rank.saturating_sub(1);
        // The axes of a plane: lines, and elements of a line.
        let (across, lines) = match inner.checked_sub(1) {
            Some(across) => (across, plan.sizes[across]),
            None => (AXES - 1, 1),
        };
        let len = plan.sizes[inner];
        let [block_lines, block_len] = plan.block();
        let block_len = block_len.min(longest::<X>());
        let mut index = [0; AXES];
        loop {
            let mut top = 0;
            while top < lines {
                let bottom = lines.min(top.saturating_add(block_lines));
                let mut left = 0;
                while left < len {
                    let count = block_len.min(len - left);
                    for line in top..bottom {
                        index[across] = line;
                        index[inner] = left;
                        let mut at = first;
                        for axis in 0..AXES {
                            at += index[axis] * plan.out[axis];
                        }
                        // SAFETY: the caller's promise for everything that the sizes reach; the buffers outlive the loop.
                        unsafe {
                            let places = x.places(Compiled, &mut buffer, computed, &index, inner, count);
                            sink.take(x, places, at, plan.out[inner], count);
                        }
                    }
                    left += count;
                }
                top = bottom;
            }
            // Advances the outer axes like an odometer.
            (index[across], index[inner]) = (0, 0);
            let mut axis = inner.saturating_sub(1);
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                if index[axis] < plan.sizes[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
    }
}

/// A single line, contiguous in every leaf and in the result.
struct Line<X, S>(X, S, usize);
impl<X: Expression, S: Sink<X::Elem>> Loop for Line<X, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Line(x, sink, len) = self;
        let (mut buffer, computed) = (X::buffers(), computed::<X>());
        let computed = computed.as_ref().map_or(core::ptr::null_mut(), Scratch::start);
        let (mut index, mut at) = ([0; AXES], 0);
        while at < len {
            let count = longest::<X>().min(len - at);
            index[0] = at;
            // SAFETY: as above.
            unsafe {
                let places = x.places(Compiled, &mut buffer, computed, &index, 0, count);
                sink.take(x, places, at, 1, count);
            }
            at += count;
        }
    }
}

/// The part of an evaluation that is compiled per expression and sink.
trait Evaluating: HasStrides + Sync {
    /// Evaluates all `len` elements as one line that is contiguous in every leaf and in the result.
    ///
    /// # Safety
    /// The leaves have `len` elements, and there are `len` distinct places for the results.
    unsafe fn line(&self, len: usize);
    /// Evaluates a plan, with leaves and result advanced `steps` along an axis.
    ///
    /// # Safety
    /// As for [`line`](Self::line), for every place that the plan reaches.
    unsafe fn part(&self, plan: &FusedPlan, axis: usize, steps: usize);
}

/// An expression and its sink.
struct Evaluation<X, S>(X, S);
impl<X: Expression, S: Sink<X::Elem>> HasStrides for Evaluation<X, S> {
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        self.0.strides(see);
    }
}
impl<X: Expression, S: Sink<X::Elem>> Evaluating for Evaluation<X, S> {
    unsafe fn line(&self, len: usize) {
        simd::dispatch(Line(self.0, self.1, len));
    }
    unsafe fn part(&self, plan: &FusedPlan, axis: usize, steps: usize) {
        let (mut x, first) = (self.0, steps * plan.out[axis]);
        x.advance(axis, steps);
        simd::dispatch(EvaluateAll { plan, x, sink: self.1, first });
    }
}

/// Runs an expression of `len` elements into its sink; `bytes` are read and written per element.
///
/// # Safety
/// All leaves have elements wherever the sizes reach, and the `out` strides lead to valid, distinct places.
unsafe fn execute(x: &mut dyn Evaluating, len: usize, sizes: &[usize], out: &[usize], bytes: usize) {
    if len == 0 {
        return;
    }
    let pieces = threads::pieces(len / 64 * bytes);
    if pieces == 1 && is_contiguous(sizes, out) {
        // The common case: every leaf has the result's strides.
        let mut alike = true;
        x.show(&mut |strides| alike &= strides[..out.len()] == *out);
        if alike {
            x.show(&mut |strides| strides[0] = 1);
            // SAFETY: the caller's promise.
            return unsafe { x.line(len) };
        }
    }
    let plan = FusedPlan::new(x, sizes, out);
    let x = &*x;
    if pieces == 1 {
        // SAFETY: the caller's promise.
        return unsafe {
            if plan.rank == 1 && plan.aligned && plan.out[0] == 1 { x.line(len) } else { x.part(&plan, 0, 0) }
        };
    }
    // Threads divide the longest axis.
    let axis = (0..plan.rank).max_by_key(|&axis| (plan.sizes[axis], core::cmp::Reverse(axis))).unwrap_or(0);
    let each = plan.sizes[axis].div_ceil(pieces).next_multiple_of(if axis + 1 == plan.rank { 64 } else { 1 });
    threads::for_each(plan.sizes[axis].div_ceil(each), &|piece| {
        let (mut part, low) = (plan, piece * each);
        part.sizes[axis] = each.min(plan.sizes[axis] - low);
        // SAFETY: the caller's promise.
        unsafe { x.part(&part, axis, low) }
    });
}

/// [`execute`] of an expression and its sink.
///
/// # Safety
/// As for [`execute`].
unsafe fn run<X: Expression, S: Sink<X::Elem>>(x: X, len: usize, sizes: &[usize], out: &[usize], sink: S) {
    // SAFETY: the caller's promise.
    unsafe { execute(&mut Evaluation(x, sink), len, sizes, out, X::BYTES + size_of::<X::Elem>()) }
}

/// Evaluates into a new result with these strides, which are dense.
pub(crate) fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    // SAFETY: the strides of a new result are dense, so each of its `len` elements is written once; the maker of the leaves promises the
    // rest.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut X::Elem| {
            // Non-temporal stores do not pay off for short chunks: each would wait for memory.
            let large = non_temporal::pays_off(len * size_of::<X::Elem>()) && X::COMPUTED == 0;
            run(x, len, sizes, strides, Write { out: Shared(out), large });
            Ok(())
        })
    }
}

/// The same of an expression with several results.
pub(crate) fn evaluate_each<X: Expression<Elem = [O; N]>, O: Element, const N: usize>(
    x: X,
    sizes: &[usize],
    strides: &[usize],
) -> Result<[HostBuffer; N]> {
    let len = result_len(sizes)?;
    // SAFETY: as in `evaluate`, for each of the results.
    unsafe {
        HostBuffer::filled_together(len, [size_of::<O>(); N], &mut |starts| {
            run(x, len, sizes, strides, WriteEach(starts.map(|start| Shared(start.cast::<O>()))));
            Ok(())
        })
    }
}

/// `out = x`
pub(crate) fn evaluate_into<X: Expression<Elem: Element>>(x: X, mut out: ViewMut<'_, HostBuffer, X::Elem>) {
    let (sizes, strides) = (out.sizes, out.strides);
    let sink = Write { out: Shared(target(&mut out)), large: false };
    // SAFETY: the output's buffer is held exclusively, so no leaf reads it; a mutable view's places are distinct.
    unsafe { run(x, sizes.iter().product(), sizes, strides, sink) }
}

/// `out = kernel(out, x)`
pub(crate) fn update<X: Expression, O: Element>(
    kernel: impl Map2<O, X::Elem, O>,
    x: X,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    let (sizes, strides, sink) = (out.sizes, out.strides, Update(kernel, Shared(target(&mut out))));
    // SAFETY: as in `evaluate_into`.
    unsafe { run(x, sizes.iter().product(), sizes, strides, sink) }
}
