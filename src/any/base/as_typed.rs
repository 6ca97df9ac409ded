//! From `AnyTensor` to typed tensors and back. An operation along one axis runs on a typed tensor reshaped to three axes,
//! `[before, axis, after]`, so that it is compiled once for a dtype and not once for a rank.

use crate::any::AnyTensor;
use crate::error::Result;
use crate::{Device, Dyn, Element, Tensor};

/// The shape of a typed tensor with three axes whose sizes are known at run time.
pub(crate) type Rank3 = (Dyn, Dyn, Dyn);
/// Two axes whose sizes are known at run time.
pub(crate) type Rank2 = (Dyn, Dyn);
/// One axis whose size is known at run time.
pub(crate) type Rank1 = (Dyn,);

/// The size of several axes flattened to one. (With an empty axis elsewhere their product may overflow: it saturates.)
pub(crate) fn joined(sizes: &[usize]) -> i64 {
    crate::shape::numel(sizes).map_or(i64::MAX, |size| size as i64)
}

impl AnyTensor {
    /// The tensor as `[before, axis, after]`: a view where the strides allow it, else a copy. (A zero-dim tensor counts as one axis of size
    /// 1.)
    pub(crate) fn as_three_axes(&self, axis: usize) -> Result<AnyTensor> {
        let (before, rest) = self.sizes.split_at(axis.min(self.rank()));
        let (size, after) = rest.split_first().map_or((1, &[][..]), |(&size, after)| (size, after));
        self.reshaped(&[joined(before), size as i64, joined(after)])
    }

    /// [`reshape`](Self::reshape) to sizes without -1.
    pub(crate) fn reshaped(&self, sizes: &[i64]) -> Result<AnyTensor> {
        self.reshape(sizes)
    }

    /// A typed tensor with three axes.
    pub(crate) fn typed_rank3<E: Element, D: Device>(&self) -> Result<Tensor<E, Rank3, D>> {
        self.typed()
    }

    /// A typed tensor with two axes.
    pub(crate) fn typed_rank2<E: Element, D: Device>(&self) -> Result<Tensor<E, Rank2, D>> {
        self.typed()
    }

    /// All elements in row-major order under one axis.
    pub(crate) fn typed_rank1<E: Element, D: Device>(&self) -> Result<Tensor<E, Rank1, D>> {
        self.reshaped(&[self.numel() as i64])?.typed()
    }
}
