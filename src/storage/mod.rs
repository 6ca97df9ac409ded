//! Where elements live: reference-counted host buffers, and borrowed views of a buffer.
//!
//! A buffer is bytes; the element type is the tensor's.

mod blocks;
#[cfg(any(test, feature = "grad"))]
mod counted;
#[cfg(any(test, feature = "mmap", feature = "dlpack", feature = "arrow", feature = "faer"))]
mod foreign;
mod host;
#[cfg(test)]
mod memory;
mod pages;
pub(crate) mod pool;
mod scratch;
mod small;

#[cfg(feature = "grad")]
pub(crate) use counted::Counted;
pub use host::HostBuffer;
pub(crate) use pages::prefer_huge_pages;
pub(crate) use scratch::{Scratch, ScratchList};

use crate::dtype::Element;
use core::marker::PhantomData;

/// The bytes of elements in native byte order.
#[cfg(any(feature = "safetensors", feature = "npy", feature = "serde", feature = "bytemuck"))]
pub(crate) fn bytes_of<E: Element>(elements: &[E]) -> &[u8] {
    // SAFETY: every element is plain numbers without padding, all of whose bytes are initialised.
    unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Elements of a buffer with sizes and strides.
///
/// Invariant, guaranteed by the tensor it comes from: every element that sizes, strides and offset reach is inside the buffer and a valid
/// `E`.
pub struct View<'a, B, E> {
    pub(crate) buffer: &'a B,
    pub(crate) offset: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
    elements: PhantomData<E>,
}

impl<B, E> Clone for View<'_, B, E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B, E> Copy for View<'_, B, E> {}

impl<'a, B, E> View<'a, B, E> {
    pub(crate) fn new(buffer: &'a B, offset: usize, sizes: &'a [usize], strides: &'a [usize]) -> Self {
        debug_assert_eq!(sizes.len(), strides.len());
        View { buffer, offset, sizes, strides, elements: PhantomData }
    }

    /// The same elements as `F`, where a bound says that `E` and `F` are the same dtype.
    pub(crate) fn known_as<F: Element>(self) -> View<'a, B, F>
    where
        E: Element,
    {
        // Bounds can be implemented outside this crate, so the dtypes are compared (as constants).
        assert!(E::DTYPE == F::DTYPE, "elements of {} are not {}", E::DTYPE, F::DTYPE);
        View {
            buffer: self.buffer,
            offset: self.offset,
            sizes: self.sizes,
            strides: self.strides,
            elements: PhantomData,
        }
    }

    /// The same view over another kind of storage.
    #[cfg(feature = "any")]
    pub(crate) fn over<C>(self, buffer: &'a C) -> View<'a, C, E> {
        View::new(buffer, self.offset, self.sizes, self.strides)
    }

    /// The same elements with other sizes and strides (such as a broadcast), which must stay inside.
    pub(crate) fn restrided<'b>(self, sizes: &'b [usize], strides: &'b [usize]) -> View<'b, B, E>
    where
        'a: 'b,
    {
        View { buffer: self.buffer, offset: self.offset, sizes, strides, elements: PhantomData }
    }
}

/// Writable elements of a buffer. No two positions share an element.
pub struct ViewMut<'a, B, E> {
    pub(crate) buffer: &'a mut B,
    pub(crate) offset: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
    elements: PhantomData<E>,
}

impl<'a, B, E> ViewMut<'a, B, E> {
    pub(crate) fn new(buffer: &'a mut B, offset: usize, sizes: &'a [usize], strides: &'a [usize]) -> Self {
        debug_assert_eq!(sizes.len(), strides.len());
        ViewMut { buffer, offset, sizes, strides, elements: PhantomData }
    }
}
