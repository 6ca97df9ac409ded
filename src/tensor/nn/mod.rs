//! What `Tensor` has of networks alone: weights packed once, and resampling with modes in the types.

pub(crate) mod interpolate;
pub(crate) mod modes;
pub(crate) mod packed;
pub(crate) mod packed_linear;
