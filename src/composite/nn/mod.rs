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
use crate::error::{Result, room};
use crate::layout::dims::Dims;
use crate::shape::numel;

rows_of!(adaptive_pool, attention, conv, fractional_pool, grid, interpolate, lp_pool, patches, pool, unpool);

/// A new result's storage, sizes and strides.
pub(crate) type Laid<S> = (S, Vec<usize>, Vec<usize>);

/// Checks that memory can hold elements of these sizes, before lists as long as an axis are allocated. (On a device without data nothing is
/// allocated.)
pub(crate) fn expect_room<E: Element, D: Device>(beside: &D::Storage, sizes: &[usize]) -> Result<()> {
    if D::has_data(beside) {
        room::<E>(numel(sizes).unwrap_or(usize::MAX))?;
    }
    Ok(())
}

/// A new tensor of a storage with sizes and strides.
pub(crate) fn laid<E: Element, D: Device>((storage, sizes, strides): Laid<D::Storage>) -> Owned<E, D> {
    Erased::fresh(storage, Dims::known(&sizes), Dims::known(&strides))
}
