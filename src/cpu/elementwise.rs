//! Elementwise operations: runs a kernel's inner loop over strided operands, gathering those that are not contiguous.

use super::copying;
use super::engine::{run_contiguous, run_fresh, run_into};
use super::kernel_body::KernelBody;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::bounds::is_within;
use crate::layout::strides::is_contiguous;
use crate::ops::kernel::{Map1, Map2, Map3};
use crate::shape::numel;
use crate::storage::{HostBuffer, View, ViewMut};

/// A pointer to a view's first element.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn source<E: Element>(view: &View<'_, HostBuffer, E>) -> *const E {
    debug_assert!(is_within(view.sizes, view.strides, view.offset, Some(view.buffer.len::<E>())));
    // The offset of an empty view may lie outside its buffer.
    view.buffer.start::<E>().wrapping_add(view.offset)
}

/// A pointer to an output's first element.
///
/// # Panics
/// If the buffer is shared: tensors make theirs unique before they write.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn target<E: Element>(out: &mut ViewMut<'_, HostBuffer, E>) -> *mut E {
    debug_assert!(is_within(out.sizes, out.strides, out.offset, Some(out.buffer.len::<E>())));
    let start = out.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("a shared buffer is never written"));
    start.wrapping_add(out.offset)
}

/// Checks that two operands have the same sizes. (An inlined loop: for so short a list a call costs more.)
///
/// # Panics
/// If they differ.
#[cfg_attr(not(debug_assertions), inline(always))]
fn expect_same(a: &[usize], b: &[usize]) {
    assert!(a.iter().eq(b), "operands arrive broadcast");
}

/// The number of elements of a result. Tensors have checked it; it is checked again here because raw pointers are written through.
pub(super) fn result_len(sizes: &[usize]) -> Result<usize> {
    numel(sizes).ok_or_else(|| Error::TooLarge { op: "result", sizes: sizes.into() })
}

/// Up to this many elements, a cheap kernel is computed without calling its loop.
const FEW: usize = 16;
/// Elements read before the first of them is written, so that the compiler vectorises.
const AT_ONCE: usize = 4;

/// `out = call(at)` for a few positions, `AT_ONCE` at a time.
///
/// # Safety
/// `out` has room for `len` elements.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn few<O>(out: *mut O, len: usize, call: impl Fn(usize) -> O) {
    let mut at = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while at + AT_ONCE <= len {
            let values: [O; AT_ONCE] = core::array::from_fn(|next| call(at + next));
            out.add(at).cast::<[O; AT_ONCE]>().write(values);
            at += AT_ONCE;
        }
        // (The compiler sees that the count is below `AT_ONCE`; otherwise it would vectorise the remainder, too.)
        for next in 0..len % AT_ONCE {
            out.add(at + next).write(call(at + next));
        }
    }
}

/// Runs a kernel's loop over contiguous elements; not inlined, so that callers stay small.
///
/// # Safety
/// As for [`run_contiguous`].
#[inline(never)]
pub(super) unsafe fn line<const N: usize>(len: usize, body: &KernelBody<N>) {
    // SAFETY: the caller's promise.
    unsafe { run_contiguous(len, *body) }
}

/// `kernel(a)` for `len` contiguous elements; `out` may be `a`.
///
/// # Safety
/// There are `len` elements at `a`, and room for `len` results.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn apply_line<K: Map1<A, O>, A: Element, O: Element>(kernel: K, out: *mut O, a: *const A, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if K::IS_BRIEF && len <= FEW {
            few(out, len, |at| kernel.call(a.add(at).read()));
        } else {
            line(len, &KernelBody::one(&kernel, out, a));
        }
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn map1_line<A: Element, O: Element>(
    kernel: impl Map1<A, O>,
    a: View<'_, HostBuffer, A>,
    len: usize,
) -> Result<HostBuffer> {
    // SAFETY: the caller promises `len` contiguous elements from the view's first one; `len` results are written.
    unsafe {
        let (buffer, out) = HostBuffer::uninitialised(len, size_of::<O>())?;
        apply_line::<_, A, O>(kernel, out.cast(), source(&a), len);
        Ok(buffer)
    }
}

/// `kernel(a, b)` for `len` contiguous elements; `out` may be `a`.
///
/// # Safety
/// There are `len` elements at each operand, and room for `len` results.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn combine_line<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
    kernel: K,
    out: *mut O,
    a: *const A,
    b: *const B,
    len: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if K::IS_BRIEF && len <= FEW {
            few(out, len, |at| kernel.call(a.add(at).read(), b.add(at).read()));
        } else {
            line(len, &KernelBody::two(&kernel, out, a, b));
        }
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn map2_line<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    len: usize,
) -> Result<HostBuffer> {
    // SAFETY: as in `map1_line`.
    unsafe {
        let (buffer, out) = HostBuffer::uninitialised(len, size_of::<O>())?;
        combine_line::<_, A, B, O>(kernel, out.cast(), source(&a), source(&b), len);
        Ok(buffer)
    }
}

/// `out = kernel(out)` for `len` contiguous elements.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn update1_line<O: Element>(kernel: impl Map1<O, O>, mut out: ViewMut<'_, HostBuffer, O>, len: usize) {
    let out = target(&mut out);
    // SAFETY: the output's buffer is held exclusively; the caller promises `len` contiguous elements from the first one.
    unsafe { apply_line(kernel, out, out, len) }
}

/// `out = kernel(out, b)` for `len` contiguous elements.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn update2_line<B: Element, O: Element>(
    kernel: impl Map2<O, B, O>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
    len: usize,
) {
    let (out, b) = (target(&mut out), source(&b));
    // SAFETY: the output's buffer is held exclusively; the caller promises `len` contiguous elements from the first element of each view.
    unsafe { combine_line(kernel, out, out, b, len) }
}

/// Concatenates pieces along an axis of a fresh result.
pub(crate) fn join<E: Element>(
    pieces: &[View<'_, HostBuffer, E>],
    axis: usize,
    sizes: &[usize],
    strides: &[usize],
) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    assert_eq!(pieces.iter().map(|piece| piece.sizes[axis]).sum::<usize>(), sizes[axis], "pieces fill the axis");
    // SAFETY: the pieces' lengths along the axis add up to the result's, and their other sizes are equal to its, so that every element is
    // written once; what a piece reaches is valid by its view's invariant.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            if is_contiguous(sizes, strides) && pieces.iter().all(|piece| is_contiguous(piece.sizes, piece.strides)) {
                let runs = pieces.iter().map(|piece| {
                    let run: usize = piece.sizes[axis..].iter().product();
                    (source(piece).cast(), run * size_of::<E>())
                });
                let rows = sizes[..axis].iter().product();
                if copying::interleave(rows, &runs.collect::<Vec<_>>(), out.cast()) {
                    return Ok(());
                }
            }
            let mut start = 0;
            for piece in pieces {
                let out = out.wrapping_add(start * strides[axis]);
                copying::copy_into(
                    size_of::<E>(),
                    piece.sizes,
                    [strides, piece.strides],
                    out.cast(),
                    source(piece).cast(),
                );
                start += piece.sizes[axis];
            }
            Ok(())
        })
    }
}

/// The result of a kernel as a new buffer, whose address is put into the body. (The type names no kernel, so this is compiled once.)
///
/// # Safety
/// The strides of the result, which come first, leave no gaps; the body's operands and kernel match, and have elements at all positions.
#[inline]
pub(super) unsafe fn fresh<const N: usize>(
    sizes: &[usize],
    strides: [&[usize]; N],
    mut body: KernelBody<N>,
) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    // SAFETY: the walk writes each of the `len` elements once; the caller's promise.
    unsafe {
        let (buffer, out) = HostBuffer::uninitialised(len, body.sizes[0])?;
        body.places[0] = out;
        run_fresh(len, sizes, strides, body);
        Ok(buffer)
    }
}

/// A copy of elements of `size` bytes, as a new buffer.
///
/// # Safety
/// The strides of the result, which come first, leave no gaps; the source has elements at all positions.
#[inline]
unsafe fn fresh_copy(size: usize, sizes: &[usize], strides: [&[usize]; 2], from: *const u8) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    // SAFETY: each of the `len` elements is written once; the caller's promise.
    unsafe {
        let (buffer, out) = HostBuffer::uninitialised(len, size)?;
        copying::copy_fresh(size, len, sizes, strides, out, from);
        Ok(buffer)
    }
}

/// The result pointer of a body whose result is not allocated yet.
const NOWHERE: *mut u8 = core::ptr::null_mut();

pub(crate) fn map1<A: Element, O: Element, K: Map1<A, O>>(
    kernel: K,
    a: View<'_, HostBuffer, A>,
    strides: &[usize],
) -> Result<HostBuffer> {
    let (from, all) = (source(&a), [strides, a.strides]);
    // SAFETY: the strides of a fresh result are dense; what is reached from `a` is valid by the view's invariant.
    unsafe {
        if K::MOVES {
            // A copying kernel has the same element type on both sides.
            fresh_copy(size_of::<A>(), a.sizes, all, from.cast())
        } else {
            fresh(a.sizes, all, KernelBody::one::<K, A, O>(&kernel, NOWHERE.cast(), from))
        }
    }
}

pub(crate) fn map2<A: Element, B: Element, O: Element, K: Map2<A, B, O>>(
    kernel: K,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    strides: &[usize],
) -> Result<HostBuffer> {
    expect_same(a.sizes, b.sizes);
    let body = KernelBody::two::<K, A, B, O>(&kernel, NOWHERE.cast(), source(&a), source(&b));
    // SAFETY: as in `map1`.
    unsafe { fresh(a.sizes, [strides, a.strides, b.strides], body) }
}

pub(crate) fn map3<A: Element, B: Element, C: Element, O: Element, K: Map3<A, B, C, O>>(
    kernel: K,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    c: View<'_, HostBuffer, C>,
    strides: &[usize],
) -> Result<HostBuffer> {
    expect_same(a.sizes, b.sizes);
    expect_same(a.sizes, c.sizes);
    let from = (source(&a), source(&b), source(&c));
    let body = KernelBody::three::<K, A, B, C, O>(&kernel, NOWHERE.cast(), from);
    // SAFETY: as in `map1`.
    unsafe { fresh(a.sizes, [strides, a.strides, b.strides, c.strides], body) }
}

pub(crate) fn map1_into<A: Element, O: Element>(
    kernel: impl Map1<A, O>,
    a: View<'_, HostBuffer, A>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    expect_same(a.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, a.strides]);
    let (out, a) = (target(&mut out), source(&a));
    // SAFETY: the output's buffer is held exclusively, so it is not the operand's; the walk stays inside both views.
    unsafe { run_into(sizes, strides, KernelBody::one(&kernel, out, a)) }
}

pub(crate) fn map2_into<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    expect_same(a.sizes, out.sizes);
    expect_same(b.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, a.strides, b.strides]);
    let (out, a, b) = (target(&mut out), source(&a), source(&b));
    // SAFETY: as in `map1_into`.
    unsafe { run_into(sizes, strides, KernelBody::two(&kernel, out, a, b)) }
}

pub(crate) fn update1<O: Element>(kernel: impl Map1<O, O>, mut out: ViewMut<'_, HostBuffer, O>) {
    let (sizes, strides) = (out.sizes, [out.strides; 2]);
    let out = target(&mut out);
    // SAFETY: the output's buffer is held exclusively and the walk stays inside its view.
    unsafe { run_into(sizes, strides, KernelBody::one(&kernel, out, out)) }
}

pub(crate) fn update2<B: Element, O: Element>(
    kernel: impl Map2<O, B, O>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    expect_same(b.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, out.strides, b.strides]);
    let (out, b) = (target(&mut out), source(&b));
    // SAFETY: as in `map1_into`.
    unsafe { run_into(sizes, strides, KernelBody::two(&kernel, out, out, b)) }
}
