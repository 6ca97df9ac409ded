//! Layers of networks: convolutions, pooling, attention, resampling.

pub(crate) mod attention;
pub(crate) mod conv;
pub(crate) mod fractional_pool;
pub(crate) mod grid;
pub(crate) mod interpolate;
pub(crate) mod multi_head;
pub(crate) mod patches;
pub(crate) mod pool;
pub(crate) mod unpool;

rows_of!(conv, fractional_pool, grid, interpolate, multi_head, patches, pool, unpool);
