//! Scratch memory for the time of an operation. Uses host buffers; used by the loops of `cpu`.

use super::host::{ALIGNMENT, HostBuffer, SMALL, allocate, byte_size};
use crate::error::Result;
use core::marker::PhantomData;

/// Uninitialised scratch memory, aligned to cache lines, and taken from the pool if it is large.
pub(crate) struct Scratch<T>(HostBuffer, PhantomData<T>);

impl<T> Scratch<T> {
    /// Memory for so many values.
    ///
    /// # Panics
    /// If memory runs out.
    pub(crate) fn new(len: usize) -> Self {
        Self::try_new(len).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Memory for so many values; an error if it runs out.
    pub(crate) fn try_new(len: usize) -> Result<Self> {
        // Small blocks are not aligned to cache lines.
        let bytes = byte_size::<T>(len)?.max(SMALL);
        Ok(Scratch(allocate(bytes, None)?, PhantomData))
    }

    /// So many copies of a value.
    ///
    /// # Panics
    /// If memory runs out.
    pub(crate) fn filled(value: T, len: usize) -> Self
    where
        T: Copy,
    {
        let scratch = Scratch::<T>::new(len);
        // SAFETY: there is room for as many.
        (0..len).for_each(|at| unsafe { scratch.start().add(at).write(value) });
        scratch
    }

    /// The first value's place.
    pub(crate) fn start(&self) -> *mut T {
        const { assert!(align_of::<T>() <= ALIGNMENT) }
        self.0.start::<T>().cast_mut()
    }
}
