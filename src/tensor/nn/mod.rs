//! What `Tensor` has of networks alone: weights packed once.

pub(crate) mod packed;
pub(crate) mod packed_linear;
