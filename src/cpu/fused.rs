//! Expressions in one pass: no intermediate result is as large as a tensor.
//!
//! Axes are put in the order of the result, merged where all leaves run on, and visited a piece at a time; leaves whose
//! elements do not lie side by side there are brought together in a small buffer, so that the loop is always the same, and
//! vectorised. Uses expressions; used by `Cpu`.

use super::compiled;
use super::elementwise::{result_len, target};
use super::non_temporal::{self, Staging};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::TILE;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides::is_contiguous;
use crate::ops::expression::{AXES, CHUNK, Expression, Loops, PIECE};
use crate::ops::kernel::{Map1, Map2};
use crate::storage::{HostBuffer, Scratch, ViewMut};
use core::mem::MaybeUninit;

/// The axes of an expression and its result, outermost first, without those of size 1.
#[derive(Clone, Copy)]
pub(super) struct FusedPlan {
    pub rank: usize,
    pub sizes: [usize; AXES],
    /// The strides of the result.
    pub out: [usize; AXES],
    /// Whether the last two axes are visited tile by tile: a leaf runs along the other one.
    tiled: bool,
    /// Whether every leaf has its elements side by side along the last axis.
    aligned: bool,
}

impl FusedPlan {
    /// The axes in the order of the result's strides, merged where the result and all leaves run on.
    fn new<X: Expression>(x: &mut X, sizes: &[usize], out: &[usize]) -> Self {
        let mut plan = FusedPlan { rank: 0, sizes: [1; AXES], out: [0; AXES], tiled: false, aligned: true };
        let mut order: [usize; AXES] = [0; AXES];
        for (axis, &size) in sizes.iter().enumerate() {
            if size != 1 {
                order[plan.rank] = axis;
                plan.rank += 1;
            }
        }
        let order = &mut order[..plan.rank];
        if !order.is_sorted_by_key(|&axis| core::cmp::Reverse(out[axis])) {
            order.sort_by_key(|&axis| core::cmp::Reverse(out[axis]));
        }
        for (to, &from) in order.iter().enumerate() {
            (plan.sizes[to], plan.out[to]) = (sizes[from], out[from]);
        }
        reorder(x, order);
        plan.rank = merge(x, &mut plan.sizes[..plan.rank], 0, Some(&mut plan.out));
        plan.tile(x);
        let last = plan.rank.saturating_sub(1);
        x.strides(&mut |strides| plan.aligned &= strides[last] == 1);
        plan
    }

    /// Where leaves have their elements closer along another axis than along the last: puts that axis next to the last.
    fn tile<X: Expression>(&mut self, x: &mut X) {
        let Some(inner) = self.rank.checked_sub(1) else { return };
        let mut closest = None;
        x.strides(&mut |strides| {
            for axis in 0..inner {
                if strides[axis] > 0 && strides[axis] < strides[inner] {
                    let found = (strides[axis], axis);
                    closest = Some(closest.map_or(found, |closest: (usize, usize)| closest.min(found)));
                }
            }
        });
        if let Some((_, axis)) = closest {
            self.sizes[axis..inner].rotate_left(1);
            self.out[axis..inner].rotate_left(1);
            x.strides(&mut |strides| strides[axis..inner].rotate_left(1));
            self.tiled = true;
        }
    }

    /// How many lines and elements are visited before the next ones.
    #[inline(always)]
    fn block(&self) -> [usize; 2] {
        if self.tiled {
            [TILE, TILE]
        } else if self.aligned {
            [1, usize::MAX]
        } else {
            [1, CHUNK]
        }
    }
}

/// Puts each leaf's axes in this order; axes left out have size 1.
pub(super) fn reorder<X: Expression>(x: &mut X, order: &[usize]) {
    x.strides(&mut |strides| {
        let old = *strides;
        *strides = [0; AXES];
        for (to, &from) in order.iter().enumerate() {
            strides[to] = old[from];
        }
    });
}

/// Joins the axes of `sizes`, which are the leaves' first, from axis `from` on, where all leaves and the result run on.
/// How many axes are left.
pub(super) fn merge<X: Expression>(
    x: &mut X,
    sizes: &mut [usize],
    from: usize,
    mut out: Option<&mut [usize; AXES]>,
) -> usize {
    let rank = sizes.len();
    let mut last = from;
    for axis in from + 1..rank {
        let size = sizes[axis];
        let runs_on = |strides: &[usize; AXES]| Some(strides[last]) == strides[axis].checked_mul(size);
        let mut all = out.as_deref().is_none_or(runs_on);
        x.strides(&mut |strides| all &= runs_on(strides));
        if all {
            sizes[last] *= size;
        } else {
            last += 1;
            sizes[last] = size;
        }
        let mut carry = |strides: &mut [usize; AXES]| strides[last] = strides[axis];
        out.as_deref_mut().into_iter().for_each(&mut carry);
        x.strides(&mut carry);
    }
    let left = rank.min(last + 1);
    // What lay beyond is gone.
    x.strides(&mut |strides| strides[left..rank].fill(0));
    left
}

/// The loops compiled for kernels.
#[derive(Clone, Copy)]
pub(super) struct Compiled;
impl Loops for Compiled {
    #[inline(always)]
    unsafe fn one<K: Map1<A, O>, A: Element, O: Element>(self, kernel: &K, a: *const A, out: *mut O, len: usize) {
        let places = [out.cast(), a.cast_mut().cast()];
        let inner = const { compiled::one::<K, A, O>() };
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
        let inner = const { compiled::two::<K, A, B, O>() };
        // SAFETY: as above.
        unsafe { inner(core::ptr::from_ref(kernel).cast(), places, len) }
    }
}

/// Room for what an expression computes piece by piece; and how long pieces may be.
pub(super) fn computed<X: Expression>() -> Option<Scratch<u8>> {
    (X::COMPUTED > 0).then(|| Scratch::new(X::COMPUTED))
}

/// Elements of a piece, where all leaves have theirs side by side.
#[inline(always)]
pub(super) const fn longest<X: Expression>() -> usize {
    if X::COMPUTED > 0 { PIECE } else { usize::MAX }
}

/// What becomes of the elements.
trait Sink<E>: Copy + Send + Sync {
    /// `len` elements for the places `step` apart from offset `at` on.
    ///
    /// # Safety
    /// These places are valid and nobody else's, and `places` has found the elements.
    unsafe fn take<X: Expression<Elem = E>>(self, x: X, places: X::Places, at: usize, step: usize, len: usize);
}

/// Writes results. (As a slice the compiler knows that nothing else lies there.)
#[inline(always)]
pub(super) fn fill<X: Expression>(x: X, places: X::Places, out: &mut [MaybeUninit<X::Elem>]) {
    fill_from(x, places, 0, out);
}

/// The same from element `first` on.
#[inline(always)]
fn fill_from<X: Expression>(x: X, places: X::Places, first: usize, out: &mut [MaybeUninit<X::Elem>]) {
    for (i, out) in out.iter_mut().enumerate() {
        // SAFETY: the caller has found as many elements as there are places.
        out.write(unsafe { x.get(places, first + i) });
    }
}

/// Results written, past the caches if there are too many for them.
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

/// Changes what is there by a function of it and the element.
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
            for (i, out) in out.iter_mut().enumerate() {
                // SAFETY: `take`'s caller has found as many elements as there are places.
                *out = kernel.call(*out, unsafe { x.get(places, i) });
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
}
impl<X: Expression, S: Sink<X::Elem>> Loop for EvaluateAll<'_, X, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let EvaluateAll { plan, x, sink } = self;
        let (mut buffer, computed) = (X::buffers(), computed::<X>());
        let computed = computed.as_ref().map_or(core::ptr::null_mut(), Scratch::start);
        let inner = plan.rank.saturating_sub(1);
        // The axes of a plane: lines and elements.
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
                        let at: usize = index.iter().zip(plan.out).map(|(index, stride)| index * stride).sum();
                        // SAFETY: `execute`'s caller promises it for all that the sizes reach; the room stays here.
                        unsafe {
                            let places = x.places(Compiled, &mut buffer, computed, &index, inner, count);
                            sink.take(x, places, at, plan.out[inner], count);
                        }
                    }
                    left += count;
                }
                top = bottom;
            }
            // The next plane, like an odometer.
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

/// One line of elements side by side in every leaf and in the result.
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

/// Runs an expression of `len` elements into a sink.
///
/// # Safety
/// All leaves have elements wherever the sizes reach, and `out` strides lead to valid places, each of its own.
unsafe fn execute<X: Expression, S: Sink<X::Elem>>(mut x: X, len: usize, sizes: &[usize], out: &[usize], sink: S) {
    if len == 0 {
        return;
    }
    let pieces = threads::pieces(len / 64 * (X::BYTES + size_of::<X::Elem>()));
    if pieces == 1 && is_contiguous(sizes, out) {
        // Most expressions: all leaves lie as the result does.
        let mut alike = true;
        x.strides(&mut |strides| alike &= strides[..out.len()] == *out);
        if alike {
            x.strides(&mut |strides| strides[0] = 1);
            return simd::dispatch(Line(x, sink, len));
        }
    }
    let plan = FusedPlan::new(&mut x, sizes, out);
    if pieces == 1 {
        if plan.rank == 1 && plan.aligned && plan.out[0] == 1 {
            simd::dispatch(Line(x, sink, len));
        } else {
            simd::dispatch(EvaluateAll { plan: &plan, x, sink });
        }
        return;
    }
    // Pieces of the longest axis.
    let axis = (0..plan.rank).max_by_key(|&axis| (plan.sizes[axis], core::cmp::Reverse(axis))).unwrap_or(0);
    let each = plan.sizes[axis].div_ceil(pieces).next_multiple_of(if axis + 1 == plan.rank { 64 } else { 1 });
    threads::for_each(plan.sizes[axis].div_ceil(each), &|piece| {
        let (mut x, mut plan, low) = (x, plan, piece * each);
        plan.sizes[axis] = each.min(plan.sizes[axis] - low);
        x.advance(axis, low);
        let sink = Offset(sink, low * plan.out[axis]);
        simd::dispatch(EvaluateAll { plan: &plan, x, sink });
    });
}

/// A sink whose places start further on.
#[derive(Clone, Copy)]
struct Offset<S>(S, usize);
impl<E, S: Sink<E>> Sink<E> for Offset<S> {
    #[inline(always)]
    unsafe fn take<X: Expression<Elem = E>>(self, x: X, places: X::Places, at: usize, step: usize, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.0.take(x, places, self.1 + at, step, len) }
    }
}

/// A fresh result with these strides, which are dense.
pub(crate) fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    // SAFETY: the strides of a fresh result are dense, so each of its `len` elements is written once; whoever made the
    // leaves promises the rest.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut X::Elem| {
            // Short pieces are not written past the caches: each would wait until it is there.
            let large = non_temporal::pays_off(len * size_of::<X::Elem>()) && X::COMPUTED == 0;
            execute(x, len, sizes, strides, Write { out: Shared(out), large });
            Ok(())
        })
    }
}

/// `out = x`
pub(crate) fn evaluate_into<X: Expression<Elem: Element>>(x: X, mut out: ViewMut<'_, HostBuffer, X::Elem>) {
    let (sizes, strides) = (out.sizes, out.strides);
    let sink = Write { out: Shared(target(&mut out)), large: false };
    // SAFETY: the output's buffer is held exclusively, so no leaf reads it; places are distinct in what may be written.
    unsafe { execute(x, sizes.iter().product(), sizes, strides, sink) }
}

/// `out = kernel(out, x)`
pub(crate) fn update<X: Expression, O: Element>(
    kernel: impl Map2<O, X::Elem, O>,
    x: X,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    let (sizes, strides, sink) = (out.sizes, out.strides, Update(kernel, Shared(target(&mut out))));
    // SAFETY: as in `evaluate_into`.
    unsafe { execute(x, sizes.iter().product(), sizes, strides, sink) }
}
