//! Sizes and strides of tensors whose number of axes is known while running.

use crate::error::{Error, Result};
use crate::layout::strides;
use core::ops::{Deref, DerefMut};

/// The most axes a tensor has.
pub(crate) const MOST: usize = 8;

/// Up to [`MOST`] sizes or strides, without an allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dims {
    len: u8,
    values: [usize; MOST],
}

impl Dims {
    /// A copy, or an error if there are too many axes.
    pub(crate) fn new(op: &'static str, from: &[usize]) -> Result<Self> {
        Self::of_rank(op, from.len()).map(|_| Self::known(from))
    }

    /// A list of zeros, to be filled in.
    pub(crate) fn of_rank(op: &'static str, rank: usize) -> Result<Self> {
        if rank > MOST {
            let reason = format!("tensors have at most {MOST} axes, got {rank}");
            return Err(Error::InvalidArgument { op, reason });
        }
        Ok(Dims { len: rank as u8, values: [0; MOST] })
    }

    /// As many zeros as a tensor that exists has axes, to be filled in.
    #[inline]
    pub(crate) fn alike(of: &[usize]) -> Self {
        assert!(of.len() <= MOST, "tensors have no more axes than that");
        Dims { len: of.len() as u8, values: [0; MOST] }
    }

    /// The sizes or strides of a tensor that exists, which has no more axes than there may be.
    pub(crate) fn known(from: &[usize]) -> Self {
        assert!(from.len() <= MOST, "tensors have no more axes than that");
        // (Not by `copy_from_slice` or a loop: they become a call of `memcpy`, which takes longer for a few numbers. Not inlined: it is called in
        // many places.)
        let values = core::array::from_fn(|axis| from.get(axis).copied().unwrap_or(0));
        Dims { len: from.len() as u8, values }
    }

    /// The first numbers of a list.
    #[cfg(feature = "grad")]
    #[inline]
    pub(crate) fn widened<const N: usize>(from: &[u32; N], rank: usize) -> Self {
        let mut values = [0; MOST];
        for (value, &of) in values.iter_mut().zip(&from[..rank]) {
            *value = of as usize;
        }
        Dims { len: rank as u8, values }
    }

    /// The strides of a row-major tensor of these sizes.
    pub(crate) fn row_major(&self) -> Self {
        let mut of = *self;
        strides::write_row_major(self, &mut of);
        of
    }
}
impl Deref for Dims {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        &self.values[..self.len as usize]
    }
}
impl AsRef<[usize]> for Dims {
    #[inline]
    fn as_ref(&self) -> &[usize] {
        self
    }
}
impl DerefMut for Dims {
    #[inline]
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.values[..self.len as usize]
    }
}
impl PartialEq for Dims {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
