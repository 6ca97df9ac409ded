//! Layers of networks: convolutions, pooling, attention, resampling. Each is written over untyped views, for `Tensor` and `AnyTensor`.

pub(crate) mod attention;
pub(crate) mod grid;
pub(crate) mod interpolate;
pub(crate) mod modes;
pub(crate) mod packed;
pub(crate) mod packed_linear;
pub(crate) mod patches;

use crate::composite::nn::conv::Laid;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Shape, SizeArray};
use crate::tensor::{Tensor, expect_fit};

/// A typed tensor from the result of an untyped function.
pub(crate) fn laid<E: Element, T: Shape, D: Device>(
    op: &'static str,
    (storage, sizes, strides): Laid<D::Storage>,
) -> Result<Tensor<E, T, D>> {
    expect_fit::<T>(op, &sizes)?;
    Ok(Tensor::from_parts(storage, 0, T::Sizes::copied(&sizes), T::Sizes::copied(&strides)))
}
