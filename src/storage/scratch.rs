//! Scratch memory for the duration of an operation.

// Sizes are multiplied by checked functions alone.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::blocks::allocate;
use super::host::{ALIGNMENT, HostBuffer, SMALL};
use super::pool;
use crate::error::{Error, Result, filled};
use crate::shape::numel;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// Uninitialised scratch memory, aligned to cache lines; large blocks come from the pool.
pub(crate) struct Scratch<T>(HostBuffer, PhantomData<T>);

/// The total length of arrays of these sizes. Sizes come from users: callers pass them unmultiplied, and products and sums are checked
/// here.
fn counted(parts: &[&[usize]]) -> Result<usize> {
    let sum = parts.iter().try_fold(0_usize, |sum, sizes| sum.checked_add(numel(sizes)?));
    sum.ok_or(Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })
}

impl<T> Scratch<T> {
    /// Memory for an array of these sizes.
    ///
    /// # Panics
    /// If memory runs out.
    pub(crate) fn new<const N: usize>(sizes: [usize; N]) -> Self {
        Self::try_new(sizes).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Memory for an array of these sizes; an error if memory runs out.
    pub(crate) fn try_new<const N: usize>(sizes: [usize; N]) -> Result<Self> {
        Self::for_parts(&[&sizes])
    }

    /// Memory for arrays of these sizes, one after the other; an error if memory runs out.
    pub(crate) fn for_parts(parts: &[&[usize]]) -> Result<Self> {
        // Small blocks would not be aligned to cache lines.
        Ok(Scratch(allocate(counted(parts)?, size_of::<T>(), SMALL, None)?, PhantomData))
    }

    /// An array filled with a value; an error if memory runs out.
    pub(crate) fn try_filled<const N: usize>(value: T, sizes: [usize; N]) -> Result<Self>
    where
        T: Copy,
    {
        let len = counted(&[&sizes])?;
        let scratch = Scratch::<T>::try_new([len])?;
        // SAFETY: there is room for `len` values.
        (0..len).for_each(|at| unsafe { scratch.start().add(at).write(value) });
        Ok(scratch)
    }

    /// An array filled with a value.
    ///
    /// # Panics
    /// If memory runs out.
    pub(crate) fn filled<const N: usize>(value: T, sizes: [usize; N]) -> Self
    where
        T: Copy,
    {
        Self::try_filled(value, sizes).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Converts the memory to a buffer, to be kept.
    pub(crate) fn into_buffer(self) -> HostBuffer {
        self.0
    }

    /// Pointer to the first value.
    pub(crate) fn start(&self) -> *mut T {
        const { assert!(align_of::<T>() <= ALIGNMENT) }
        self.0.start::<T>().cast_mut()
    }
}

/// Scratch values of one operation. Long lists come from the pool: the allocator would get new pages from the system each time.
pub(crate) enum ScratchList<T> {
    Few(Vec<T>),
    /// The initialised values, and their number.
    Many(Scratch<T>, usize),
}

impl<T> Default for ScratchList<T> {
    fn default() -> Self {
        ScratchList::Few(Vec::new())
    }
}

impl<T: Copy> ScratchList<T> {
    /// `len` copies of a value; an error if memory runs out.
    pub(crate) fn try_filled(value: T, len: usize) -> Result<Self> {
        if len.saturating_mul(size_of::<T>()) < pool::SMALLEST {
            return filled(value, len).map(ScratchList::Few);
        }
        let scratch = Scratch::<T>::try_new([len])?;
        // SAFETY: there is room for `len` values.
        (0..len).for_each(|at| unsafe { scratch.start().add(at).write(value) });
        Ok(ScratchList::Many(scratch, len))
    }
}

impl<T> Deref for ScratchList<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            ScratchList::Few(values) => values,
            // SAFETY: that many values are initialised, and nobody else has the memory.
            ScratchList::Many(scratch, len) => unsafe { core::slice::from_raw_parts(scratch.start(), *len) },
        }
    }
}
impl<T> DerefMut for ScratchList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            ScratchList::Few(values) => values,
            // SAFETY: as above.
            ScratchList::Many(scratch, len) => unsafe { core::slice::from_raw_parts_mut(scratch.start(), *len) },
        }
    }
}
