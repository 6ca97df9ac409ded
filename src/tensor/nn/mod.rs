//! Layers of networks: convolutions, pooling, attention, resampling. Each is written over untyped views, for `Tensor` and `AnyTensor`.

pub(crate) mod adaptive_pool;
pub(crate) mod attention;
pub(crate) mod conv;
pub(crate) mod fractional_pool;
pub(crate) mod grid;
pub(crate) mod interpolate;
pub(crate) mod modes;
pub(crate) mod packed;
pub(crate) mod packed_linear;
pub(crate) mod patches;
pub(crate) mod pool;
pub(crate) mod pooling;
pub(crate) mod unpool;
