//! Sizes and strides of tensors whose number of axes is known while running.
//! Used by `index::scatter`, `linalg::tensordot`.

use crate::error::{Error, Result};
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
    /// As many as there are axes, or an error where that is too many.
    pub(crate) fn new(op: &'static str, from: &[usize]) -> Result<Self> {
        let mut dims = Self::of_rank(op, from.len())?;
        dims.copy_from_slice(from);
        Ok(dims)
    }

    /// As many zeros, to be filled in.
    pub(crate) fn of_rank(op: &'static str, rank: usize) -> Result<Self> {
        if rank > MOST {
            let reason = format!("tensors have at most {MOST} axes, got {rank}");
            return Err(Error::InvalidArgument { op, reason });
        }
        Ok(Dims { len: rank as u8, values: [0; MOST] })
    }

    /// Of as many axes as a tensor that exists has.
    pub(crate) fn known(from: &[usize]) -> Self {
        Self::new("dims", from).unwrap_or_else(|_| unreachable!("tensors have no more axes than that"))
    }
}
impl Deref for Dims {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.values[..self.len as usize]
    }
}
impl DerefMut for Dims {
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.values[..self.len as usize]
    }
}
impl PartialEq for Dims {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
