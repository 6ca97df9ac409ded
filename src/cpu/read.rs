//! Reading a view's elements: copies with the same strides, downloads, searches.

use super::elementwise::{result_len, source};
use super::lines;
use super::walk::Walk;
use crate::dtype::{Castable, Element};
use crate::error::{Error, Result, room};
use crate::layout::bounds::{expect_within, places, span};
use crate::ops::arguments::Sought;
use crate::shape::numel;
use crate::storage::{HostBuffer, View};

/// Copies a view to a new buffer with the same strides, zeros in the gaps.
///
/// # Panics
/// If memory runs out; [`try_copy_span`] returns the error.
#[cold]
#[inline(never)]
pub(crate) fn copy_span<E: Element>(
    buffer: &HostBuffer,
    offset: usize,
    sizes: &[usize],
    strides: &[usize],
) -> HostBuffer {
    // (Takes the parts of a view: a `View` value would be written to memory before it is known whether anything is copied.)
    copy_span_bytes(buffer, size_of::<E>(), offset, sizes, strides).unwrap_or_else(|error| panic!("{error}"))
}

/// [`copy_span`], returning the error.
#[cold]
pub(crate) fn try_copy_span<E: Element>(view: View<'_, HostBuffer, E>) -> Result<HostBuffer> {
    copy_span_bytes(view.buffer, size_of::<E>(), view.offset, view.sizes, view.strides)
}

/// [`try_copy_span`] for elements of `width` bytes, of any dtype: zero bits are a valid element of each.
pub(crate) fn copy_span_bytes(
    buffer: &HostBuffer,
    width: usize,
    offset: usize,
    sizes: &[usize],
    strides: &[usize],
) -> Result<HostBuffer> {
    expect_within("share", sizes, strides, offset, Some(buffer.len::<u8>() / width))?;
    let too_large = || Error::TooLarge { op: "share", sizes: sizes.into() };
    let bytes = span(sizes, strides).and_then(|span| span.checked_mul(width)).ok_or_else(too_large)?;
    let mut copy = HostBuffer::zeroed::<u8>(bytes)?;
    let Some(to) = copy.start_mut::<u8>() else { unreachable!("a fresh buffer is not shared") };
    let from = buffer.start::<u8>().wrapping_add(offset.wrapping_mul(width));
    // Broadcast or overlapping elements are copied once.
    let (sizes, strides) = places(sizes, strides);
    for run in Walk::new(&sizes, [&strides]).runs() {
        let (start, step) = (run.starts[0] * width, run.steps[0]);
        // SAFETY: the walk reaches what the view does, which lies inside its buffer, and the copy has the view's span.
        unsafe { lines::copy_strided(width, run.len, (to.add(start), step), (from.add(start), step)) }
    }
    Ok(copy)
}

/// The sizes, with 1 for broadcast axes.
pub(super) fn without_repeats(sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    let size = |(&size, &stride): (&usize, &usize)| if stride == 0 { size.min(1) } else { size };
    sizes.iter().zip(strides).map(size).collect()
}

/// All elements in row-major order.
pub(crate) fn download<E: Element>(view: View<'_, HostBuffer, E>) -> Result<Vec<E>> {
    let mut elements = room::<E>(result_len(view.sizes)?)?;
    let (width, to, from) = (size_of::<E>(), elements.as_mut_ptr().cast::<u8>(), source(&view).cast::<u8>());
    let mut count = 0;
    for run in Walk::row_major(view.sizes, [view.strides]).runs() {
        // SAFETY: the walk stays inside the view, and reaches as many elements as there is room for.
        unsafe {
            let from = from.add(run.starts[0] * width);
            lines::copy_strided(width, run.len, (to.add(count * width), 1), (from, run.steps[0]));
        }
        count += run.len;
    }
    // SAFETY: that many have been written.
    unsafe { elements.set_len(count) }
    Ok(elements)
}

/// The first element in row-major order that satisfies the test. Broadcast axes are visited once.
pub(crate) fn find<E: Element>(view: View<'_, HostBuffer, E>, test: impl Fn(E) -> bool) -> Option<E> {
    let (sizes, from) = (without_repeats(view.sizes, view.strides), source(&view));
    let walk = Walk::row_major(&sizes, [view.strides]);
    walk.runs().find_map(|run| {
        // SAFETY: the walk stays inside the view.
        (0..run.len)
            .map(|i| unsafe { from.add(run.starts[0] + i * run.steps[0]).read() })
            .find(|&element| test(element))
    })
}

/// Whether any element satisfies the test.
pub(crate) fn has<E: Castable>(view: View<'_, HostBuffer, E>, what: Sought) -> bool {
    let (sizes, from) = (without_repeats(view.sizes, view.strides), source(&view));
    Walk::new(&sizes, [view.strides]).runs().any(|run| {
        // Tests several elements before branching on the result.
        (0..run.len).step_by(AT_ONCE).any(|low| {
            // SAFETY: the walk stays inside the view.
            let is = |i: usize| what.is(unsafe { from.add(run.starts[0] + i * run.steps[0]).read() });
            (low..run.len.min(low + AT_ONCE)).fold(false, |found, i| found | is(i))
        })
    })
}
const AT_ONCE: usize = 64;

/// The element of a one-element view.
pub(crate) fn peek<E: Element>(view: View<'_, HostBuffer, E>) -> E {
    debug_assert_eq!(numel(view.sizes), Some(1));
    // SAFETY: a one-element view has its element at its offset.
    unsafe { source(&view).read() }
}
