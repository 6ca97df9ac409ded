//! Layers of networks: convolutions, pooling, attention, patches and sampled grids.

pub(crate) mod adaptive_pool;
pub(crate) mod attention;
pub(crate) mod conv;
pub(crate) mod fractional_pool;
pub(crate) mod grid;
pub(crate) mod interpolate;
pub(crate) mod lp_pool;
pub(crate) mod modes;
pub(crate) mod patches;
pub(crate) mod pool;
pub(crate) mod pooling;
pub(crate) mod unpool;

use super::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::layout::dims::Dims;
use conv::Laid;

rows_of!(adaptive_pool, attention, conv, fractional_pool, grid, interpolate, lp_pool, patches, pool, unpool);

/// A new tensor of a storage with sizes and strides.
pub(crate) fn laid<E: Element, D: Device>((storage, sizes, strides): Laid<D::Storage>) -> Owned<E, D> {
    Erased::fresh(storage, Dims::known(&sizes), Dims::known(&strides))
}
