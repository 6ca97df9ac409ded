//! Layers of networks: convolutions, pooling, attention, resampling. Each is written over untyped views, for `Tensor` and `AnyTensor`.

pub(crate) mod attention;
pub(crate) mod conv;
pub(crate) mod grid;
pub(crate) mod interpolate;
pub(crate) mod modes;
pub(crate) mod packed;
pub(crate) mod packed_linear;
pub(crate) mod patches;
