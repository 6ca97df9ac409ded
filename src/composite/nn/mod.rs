//! Layers of networks: convolutions, pooling, attention, patches and sampled grids.

pub(crate) mod adaptive_pool;
pub(crate) mod attention;
#[cfg(feature = "grad")]
pub(crate) mod attention_back;
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

#[cfg(feature = "grad")]
use super::algebra::OP;
use super::{Erased, Owned};
use crate::device::Device;
#[cfg(feature = "grad")]
use crate::dtype::Dtype;
use crate::dtype::Element;
use crate::error::{Result, listed, room};
use crate::layout::dims::Dims;
#[cfg(feature = "grad")]
use crate::ops::arguments::Indexing;
#[cfg(feature = "grad")]
use crate::ops::choosing::Folding;
#[cfg(feature = "grad")]
use crate::ops::reduce::Accumulating;
use crate::shape::numel;
#[cfg(feature = "grad")]
use crate::storage::ViewMut;

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

/// Storage, sizes and strides of a new tensor.
pub(crate) fn as_laid<E: Element, D: Device>(x: Owned<E, D>) -> Result<Laid<D::Storage>> {
    let (storage, _, sizes, strides) = x.into_parts();
    Ok((storage, listed(sizes.iter().copied())?, listed(strides.iter().copied())?))
}

/// What the last axes of a tensor hold at the indices of a pooled one, the positions of these axes counted as one.
#[cfg(feature = "grad")]
pub(crate) fn picked_from_planes<E: Dtype, D: Device>(
    x: &Erased<'_, E, D>,
    index: &Erased<'_, i64, D>,
    axes: usize,
) -> Result<Owned<E, D>> {
    let (flat, _) = as_lines(x.sizes(), axes);
    let (lines, lead) = as_lines(index.sizes(), axes);
    let indexing = Indexing { op: OP, axis: lead, wraps: false };
    let found = D::gather::<E>(indexing, x.reshape(OP, &flat)?.view(), index.reshape(OP, &lines)?.view())?;
    Ok(Erased::dense(found, index.dims()))
}
/// Zeros of these sizes, to which elements are added at the indices that [`picked_from_planes`] reads.
#[cfg(feature = "grad")]
pub(crate) fn added_to_planes<E: Dtype, D: Device>(
    x: &Erased<'_, E, D>,
    index: &Erased<'_, i64, D>,
    sizes: &Dims,
    axes: usize,
) -> Result<Owned<E, D>> {
    let (flat, lead) = as_lines(sizes, axes);
    let (lines, _) = as_lines(index.sizes(), axes);
    let mut sums = D::zeroed::<E>(Some(x.storage()), sizes.iter().product())?;
    let strides = crate::layout::strides::row_major(&flat);
    let indexing = Indexing { op: OP, axis: lead, wraps: false };
    let (x, index) = (x.reshape(OP, &lines)?, index.reshape(OP, &lines)?);
    let out = ViewMut::new(&mut sums, 0, &flat, &strides);
    D::scatter_with::<E>(indexing, Folding::<Accumulating>::new(), index.view(), x.view(), out)?;
    Ok(Erased::dense(sums, *sizes))
}
/// Sizes with the last axes as one, and which axis that is.
#[cfg(feature = "grad")]
fn as_lines(sizes: &[usize], axes: usize) -> (Dims, usize) {
    let lead = sizes.len() - axes;
    let mut lines = Dims::known(&sizes[..lead + 1]);
    lines[lead] = sizes[lead..].iter().product();
    (lines, lead)
}
