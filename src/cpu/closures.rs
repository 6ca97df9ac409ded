//! Users' closures over elements: the inner loop, which is all that is compiled for each closure. Walks, threads and buffers are those of
//! other kernels (`kernel_body.rs`), or of elements in row-major order (`in_order.rs`).

use super::elementwise::{fresh, line};
use super::engine::run_into;
use super::fill::fill;
use super::in_order::{Elements, Lanes, shared_out};
use super::inner::Inner;
use super::kernel_body::KernelBody;
use super::simd::{self, Filling};
use super::threads::Shared as Pointer;
use crate::dtype::Element;
use crate::error::{Result, filled, listed};
use crate::layout::strides::row_major;
use crate::storage::HostBuffer;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A closure of one item: [`Alone`], or [`Shared`] by several threads.
pub trait Closure<I, O> {
    /// Whether several threads call it.
    const IS_SHARED: bool;
    /// The closure, for one thread.
    type Called: FnMut(I) -> O;
    /// Where it is.
    fn address(&mut self) -> *const ();
    /// The closure at an address.
    ///
    /// # Safety
    /// `address` has given it, `self` is still borrowed, and nobody else calls the closure meanwhile unless it is shared.
    unsafe fn at(address: *const ()) -> Self::Called;
}

/// A closure that the calling thread alone calls.
pub struct Alone<'a, F>(pub &'a mut F);
impl<'a, I, O, F: FnMut(I) -> O> Closure<I, O> for Alone<'a, F> {
    const IS_SHARED: bool = false;
    type Called = &'a mut F;
    fn address(&mut self) -> *const () {
        core::ptr::from_mut(self.0).cast_const().cast()
    }
    #[inline(always)]
    unsafe fn at(address: *const ()) -> &'a mut F {
        // SAFETY: the caller's promise.
        unsafe { &mut *address.cast_mut().cast() }
    }
}

/// A closure that several threads call.
pub struct Shared<'a, F>(pub &'a F);
impl<'a, I, O, F: Fn(I) -> O + Sync> Closure<I, O> for Shared<'a, F> {
    const IS_SHARED: bool = true;
    type Called = &'a F;
    fn address(&mut self) -> *const () {
        core::ptr::from_ref(self.0).cast()
    }
    #[inline(always)]
    unsafe fn at(address: *const ()) -> &'a F {
        // SAFETY: the caller's promise.
        unsafe { &*address.cast() }
    }
}

/// The items of a closure over `N - 1` operands: a tuple with an element of each.
pub trait Items<const N: usize>: Copy {
    /// The first of them.
    type First: Copy;
    /// Bytes of an element of each operand. The first number is for the result.
    const WIDTHS: [usize; N];
    /// Element `at` of each operand; the first place is the result's.
    ///
    /// # Safety
    /// The operands have these elements.
    unsafe fn read(places: &[*mut u8; N], at: usize) -> Self;
    /// The same beside a first element that has been read.
    ///
    /// # Safety
    /// As there, for the other operands.
    unsafe fn read_beside(first: Self::First, places: &[*mut u8; N], at: usize) -> Self;
}
/// For `[B 2] 3` it writes `impl Items<3> for (A, B)`.
macro_rules! items {
    ($([$($element:ident $at:tt)*] $operands:literal;)*) => {$(
        impl<A: Element, $($element: Element),*> Items<$operands> for (A, $($element,)*) {
            type First = A;
            const WIDTHS: [usize; $operands] = [0, size_of::<A>(), $(size_of::<$element>()),*];
            #[inline(always)]
            unsafe fn read(places: &[*mut u8; $operands], at: usize) -> Self {
                // SAFETY: the caller's promise.
                unsafe { Self::read_beside(places[1].cast_const().cast::<A>().add(at).read(), places, at) }
            }
            #[inline(always)]
            #[allow(unused_variables, clippy::unused_unit, reason = "of one operand there are no others")]
            unsafe fn read_beside(first: A, places: &[*mut u8; $operands], at: usize) -> Self {
                // SAFETY: the caller's promise.
                (first, $(unsafe { places[$at].cast_const().cast::<$element>().add(at).read() },)*)
            }
        }
    )*};
}
items! { [] 2; [B 2] 3; [B 2 C 3] 4; [B 2 C 3 F 4] 5; }

/// The result of a closure for each item of contiguous operands.
struct Zipped<I, O, F, const N: usize> {
    places: [*mut u8; N],
    types: PhantomData<fn(F, I) -> O>,
}
impl<I: Items<N>, O, F: FnMut(I) -> O, const N: usize> Filling for Zipped<I, O, F, N> {
    type State = F;
    type Out = O;
    #[inline(always)]
    fn fill(self, closure: &mut F, out: &mut [MaybeUninit<O>]) {
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: the maker of this loop promises as many elements of each operand as there are results.
            out.write(closure(unsafe { I::read(&self.places, at) }));
        }
    }
}

/// The inner loop of a closure: [`Inner`].
///
/// # Safety
/// As there; the kernel is the address of a closure `C`, and no operand is the result's memory.
unsafe fn zipped<C: Closure<I, O>, I: Items<N>, O, const N: usize>(
    kernel: *const (),
    places: [*mut u8; N],
    len: usize,
) {
    if len == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    let (mut closure, out) =
        unsafe { (C::at(kernel), core::slice::from_raw_parts_mut(places[0].cast::<MaybeUninit<O>>(), len)) };
    simd::dispatch_filling(Zipped::<I, O, C::Called, N> { places, types: PhantomData }, &mut closure, out);
}

/// The result of a closure for each item of contiguous operands, in place of the first.
struct Updated<I, F, const N: usize> {
    places: [*mut u8; N],
    types: PhantomData<fn(F, I)>,
}
impl<I: Items<N>, F: FnMut(I) -> I::First, const N: usize> Filling for Updated<I, F, N> {
    type State = F;
    type Out = I::First;
    #[inline(always)]
    fn fill(self, closure: &mut F, out: &mut [MaybeUninit<I::First>]) {
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: the maker of this loop promises as many elements of each operand as there are results, which hold the first.
            out.write(closure(unsafe { I::read_beside(out.assume_init(), &self.places, at) }));
        }
    }
}

/// The inner loop of a closure in place. (A single loop, for which a first operand that has been gathered is copied.)
///
/// # Safety
/// As for [`Inner`]; the kernel is the address of a closure `C`. The first operand may be the result's memory.
unsafe fn updated<C: Closure<I, I::First>, I: Items<N>, const N: usize>(
    kernel: *const (),
    places: [*mut u8; N],
    len: usize,
) {
    if len == 0 {
        return;
    }
    let out = places[0].cast::<MaybeUninit<I::First>>();
    // SAFETY: the caller's promise; what is not the same memory does not overlap.
    let (mut closure, out) = unsafe {
        if places[0] != places[1] {
            core::ptr::copy_nonoverlapping(places[1].cast_const().cast(), out, len);
        }
        (C::at(kernel), core::slice::from_raw_parts_mut(out, len))
    };
    simd::dispatch_filling(Updated::<I, C::Called, N> { places, types: PhantomData }, &mut closure, out);
}

/// The closure with its operands; the first place is the result's.
fn body<C: Closure<I, O>, I: Items<N>, O, const N: usize>(
    inner: Inner<N>,
    closure: &mut C,
    places: [*mut u8; N],
) -> KernelBody<N> {
    let mut widths = I::WIDTHS;
    widths[0] = size_of::<O>();
    KernelBody::of_closure(inner, closure.address(), places, widths, !C::IS_SHARED)
}

/// The results for `len` contiguous elements of each operand.
///
/// # Safety
/// There are `len` elements of `I` at each place but the first.
pub(crate) unsafe fn zip_line<C: Closure<I, O>, I: Items<N>, O: Element, const N: usize>(
    len: usize,
    mut places: [*mut u8; N],
    mut closure: C,
) -> Result<HostBuffer> {
    // SAFETY: `len` results are written; a closure that panics leaves a buffer that nobody reads. The rest is the caller's promise.
    unsafe {
        let (buffer, out) = HostBuffer::uninitialised(len, size_of::<O>())?;
        places[0] = out;
        line(len, &body::<C, I, O, N>(zipped::<C, I, O, N>, &mut closure, places));
        Ok(buffer)
    }
}

/// The results for operands with strides; those of the result come first and leave no gaps.
///
/// # Safety
/// The operands have elements of `I` at all positions.
pub(crate) unsafe fn zip<C: Closure<I, O>, I: Items<N>, O: Element, const N: usize>(
    sizes: &[usize],
    strides: [&[usize]; N],
    places: [*mut u8; N],
    mut closure: C,
) -> Result<HostBuffer> {
    // SAFETY: the caller's promise.
    unsafe { fresh(sizes, strides, body::<C, I, O, N>(zipped::<C, I, O, N>, &mut closure, places)) }
}

/// Writes the results in place of the first operand, whose places are also those of the result.
///
/// # Safety
/// As for [`zip`], and the first operand may be written at all positions, no two of which are one; the others are none of these places.
pub(crate) unsafe fn zip_in_place<C: Closure<I, I::First>, I: Items<N>, const N: usize>(
    sizes: &[usize],
    strides: [&[usize]; N],
    places: [*mut u8; N],
    mut closure: C,
) {
    // SAFETY: the caller's promise.
    unsafe { run_into(sizes, strides, body::<C, I, I::First, N>(updated::<C, I, N>, &mut closure, places)) }
}

/// Folds lanes that are not adjacent, all of them at once: each position along them is one pass over the values, which are `start` before.
pub(crate) fn fold_across<C: Closure<(T, E), T>, T: Element, E: Element>(
    lanes: &Lanes<'_, E>,
    start: T,
    mut closure: C,
) -> Result<HostBuffer> {
    let mut folded = fill(start, lanes.count())?;
    let values = folded.start_mut::<u8>().unwrap_or_else(|| unreachable!("a fresh buffer is not shared"));
    let (sizes, strides) = lanes.outer();
    let dense = row_major(sizes);
    lanes.each_position(&mut |place| {
        let places = [values, values, place.cast_mut().cast()];
        let body = body::<C, (T, E), T, 3>(updated::<C, (T, E), 3>, &mut closure, places);
        // SAFETY: there is a value for each lane, and each has an element at this position.
        unsafe { run_into(sizes, [&dense, &dense, strides], body) }
    });
    Ok(folded)
}

/// Calls a closure with each element in row-major order, or with parts of them on several threads.
pub(crate) fn for_each<C: Closure<E, ()>, E: Element>(elements: &Elements<'_, E>, mut closure: C) -> Result<()> {
    let address = Pointer(closure.address());
    shared_out(C::IS_SHARED, elements.len(), elements.len(), &|range| {
        // SAFETY: `closure` is borrowed, and called by this thread alone or shared.
        let mut closure = unsafe { C::at(address.0) };
        elements.visit(range, &mut |_, part| {
            part.iter().for_each(|&element| closure(element));
            true
        });
        Ok(())
    })
}

/// The results for each index and element, in row-major order.
struct Indexed<'a, A, E, O, F> {
    sizes: A,
    index: A,
    elements: &'a [E],
    types: PhantomData<fn(F) -> O>,
}
impl<A: Copy + AsRef<[usize]> + AsMut<[usize]>, E: Element, O, F: FnMut((A, E)) -> O> Filling
    for Indexed<'_, A, E, O, F>
{
    type State = F;
    type Out = O;
    #[inline(always)]
    fn fill(mut self, closure: &mut F, mut out: &mut [MaybeUninit<O>]) {
        let mut elements = self.elements;
        // Line by line along the last axis.
        while !out.is_empty() {
            let last = self.sizes.as_ref().len().checked_sub(1);
            let start = last.map_or(0, |last| self.index.as_ref()[last]);
            let left = last.map_or(1, |last| self.sizes.as_ref()[last] - start).min(out.len()).min(elements.len());
            let (line, rest) = core::mem::take(&mut out).split_at_mut(left);
            for (at, (out, &element)) in line.iter_mut().zip(elements).enumerate() {
                let mut index = self.index;
                if let Some(last) = index.as_mut().last_mut() {
                    *last = start + at;
                }
                out.write(closure((index, element)));
            }
            (out, elements) = (rest, &elements[left..]);
            if let Some(last) = last {
                self.index.as_mut()[last] = start + left;
                advance(self.index.as_mut(), self.sizes.as_ref());
            }
        }
    }
}

/// Carries an index whose last number has reached its size.
fn advance(index: &mut [usize], sizes: &[usize]) {
    for axis in (1..index.len()).rev() {
        if index[axis] < sizes[axis] {
            break;
        }
        index[axis] = 0;
        index[axis - 1] += 1;
    }
}

/// The index of the element at a place in row-major order.
fn index_of(mut at: usize, sizes: &[usize], index: &mut [usize]) {
    for (index, size) in index.iter_mut().zip(sizes).rev() {
        *index = at % size;
        at /= size;
    }
}

/// The results for each index and element as a new row-major buffer.
pub(crate) fn indexed<A, C, E, O>(elements: &Elements<'_, E>, sizes: A, mut closure: C) -> Result<HostBuffer>
where
    A: Copy + Sync + AsRef<[usize]> + AsMut<[usize]>,
    C: Closure<(A, E), O>,
    E: Element,
    O: Element,
{
    let address = Pointer(closure.address());
    let fill = |out: *mut O| {
        let out = Pointer(out);
        shared_out(C::IS_SHARED, elements.len(), elements.len(), &|range| {
            // SAFETY: as in `for_each`.
            let mut closure = unsafe { C::at(address.0) };
            elements.visit(range, &mut |start, part| {
                let mut index = sizes;
                index_of(start, sizes.as_ref(), index.as_mut());
                // SAFETY: there is room for as many results as elements, and no other thread has this part.
                let out = unsafe { core::slice::from_raw_parts_mut(out.0.add(start).cast(), part.len()) };
                let filling = Indexed { sizes, index, elements: part, types: PhantomData };
                simd::dispatch_filling::<Indexed<'_, A, E, O, C::Called>>(filling, &mut closure, out);
                true
            });
            Ok(())
        })
    };
    // SAFETY: the ranges together are all elements, and each writes its results before `Ok` is returned.
    unsafe { HostBuffer::filled_by(elements.len(), fill) }
}

/// A lane that a closure is called with: adjacent elements.
#[derive(Clone, Copy)]
pub struct Lane<E> {
    start: *mut E,
    len: usize,
}
impl<E> Lane<E> {
    /// The elements, for reading.
    ///
    /// # Safety
    /// It was given to a closure, which has not returned.
    #[inline(always)]
    pub(crate) unsafe fn elements<'a>(self) -> &'a [E] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
    /// The elements, for writing.
    ///
    /// # Safety
    /// The same, and the lanes are written: [`update_lanes`].
    #[inline(always)]
    pub(crate) unsafe fn elements_mut<'a>(self) -> &'a mut [E] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// The results for lanes that lie one after the other.
struct Laned<E, O, F> {
    first: Lane<E>,
    types: PhantomData<fn(F) -> O>,
}
impl<E: Element, O, F: FnMut(Lane<E>) -> O> Filling for Laned<E, O, F> {
    type State = F;
    type Out = O;
    #[inline(always)]
    fn fill(self, closure: &mut F, out: &mut [MaybeUninit<O>]) {
        let Lane { start, len } = self.first;
        for (at, out) in out.iter_mut().enumerate() {
            out.write(closure(Lane { start: start.wrapping_add(at * len), len }));
        }
    }
}

/// The result for each lane as a new row-major buffer.
pub(crate) fn lanes<C: Closure<Lane<E>, O>, E: Element, O: Element>(
    lanes: &Lanes<'_, E>,
    mut closure: C,
) -> Result<HostBuffer> {
    let address = Pointer(closure.address());
    let fill = |out: *mut O| {
        let out = Pointer(out);
        shared_out(C::IS_SHARED, lanes.count(), lanes.numel(), &|range| {
            // SAFETY: as in `for_each`.
            let mut closure = unsafe { C::at(address.0) };
            lanes.visit(range, false, &mut |at, start, count| {
                let first = Lane { start, len: lanes.len() };
                // SAFETY: as in `indexed`.
                let out = unsafe { core::slice::from_raw_parts_mut(out.0.add(at).cast(), count) };
                let filling = Laned { first, types: PhantomData };
                simd::dispatch_filling::<Laned<E, O, C::Called>>(filling, &mut closure, out);
            })
        })
    };
    // SAFETY: as in `indexed`, for the lanes.
    unsafe { HostBuffer::filled_by(lanes.count(), fill) }
}

/// Calls a closure with each lane, which it writes.
///
/// # Safety
/// The elements of `lanes` may be written, and no two of them are one.
pub(crate) unsafe fn update_lanes<C: Closure<Lane<E>, ()>, E: Element>(
    lanes: &Lanes<'_, E>,
    mut closure: C,
) -> Result<()> {
    let address = Pointer(closure.address());
    shared_out(C::IS_SHARED, lanes.count(), lanes.numel(), &|range| {
        // SAFETY: as in `for_each`.
        let mut closure = unsafe { C::at(address.0) };
        lanes.visit(range, true, &mut |_, start: *mut E, count| {
            for at in 0..count {
                closure(Lane { start: start.wrapping_add(at * lanes.len()), len: lanes.len() });
            }
        })
    })
}

/// Elements that are folded one after the other by a fold on several threads; so its result does not depend on their number.
const BLOCK: usize = if cfg!(debug_assertions) { 100 } else { 1 << 14 };

/// Folds each of `lanes` equal parts of the elements, on several threads: in blocks, whose results are merged in order.
pub(crate) fn fold_blocks<T: Clone + Send, E: Element>(
    elements: &Elements<'_, E>,
    lanes: usize,
    start: &T,
    fold: &(impl Fn(T, E) -> T + Sync),
    mut merge: impl FnMut(T, T) -> T,
) -> Result<Vec<T>> {
    let len = elements.len() / lanes.max(1);
    // At most a few hundred blocks.
    let block = BLOCK.max(len.div_ceil(256));
    let blocks = len.div_ceil(block).max(1);
    let mut folded = filled(Some(start.clone()), lanes.saturating_mul(blocks))?;
    let places = Pointer(folded.as_mut_ptr());
    shared_out(true, folded.len(), elements.len(), &|range| {
        for at in range {
            // SAFETY: no other thread has this block, and the list stays where it is.
            let place = unsafe { &mut *places.0.add(at) };
            let (lane, from) = (at / blocks * len, at % blocks * block);
            let mut value = place.take();
            elements.visit(lane + from..lane + len.min(from + block), &mut |_, part| {
                value = part.iter().fold(value.take(), |value, &element| value.map(|value| fold(value, element)));
                true
            });
            *place = value;
        }
        Ok(())
    })?;
    let mut folded = folded.into_iter().flatten();
    let merged = (0..lanes).map(|_| folded.by_ref().take(blocks).reduce(&mut merge).unwrap_or_else(|| start.clone()));
    listed(merged)
}
