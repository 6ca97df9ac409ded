//! An optional number for each channel or class: `&weight`, `()`.

use crate::device::Device;
use crate::dtype::Element;
use crate::sealed::Sealed;
use crate::shape::{Dim, ExpandTo, OneForEach, Shape};
use crate::storage::View;
use crate::tensor::{SameDevice, Tensor};

/// A weight (or a bias) for each of `C` channels or classes: `&weight`, a tensor with one axis, or `()` for none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no weight for each of `{C}` channels or classes, of dtype `{E}` on `{D}`",
    label = "expected `&weight`, a tensor with one axis, or `()` for none",
    note = "a weight holds the dtype of the tensor and is where the tensor is"
)]
pub trait PerChannel<E: Element, C, D: Device>: Sealed + Copy {
    /// Whether there is one.
    #[doc(hidden)]
    const IS_GIVEN: bool;
    /// The weight, if there is one.
    #[doc(hidden)]
    fn given(&self) -> Option<View<'_, D::Storage, E>>;
}
impl<E: Element, C, D: Device> PerChannel<E, C, D> for () {
    const IS_GIVEN: bool = false;
    fn given(&self) -> Option<View<'_, D::Storage, E>> {
        None
    }
}
impl<E: Element, C, K: Dim + OneForEach<C> + SameDevice<D, X>, X: Device, D: Device> PerChannel<E, C, D>
    for &Tensor<E, (K,), X>
{
    const IS_GIVEN: bool = true;
    fn given(&self) -> Option<View<'_, D::Storage, E>> {
        Some(K::here(self).elements())
    }
}

/// A weight that broadcasts to predictions of shape `S`: `&weight`, or `()` for none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no weight for losses of shape `{S}`, of dtype `{E}` on `{D}`",
    label = "expected `&weight`, a tensor that broadcasts to the predictions, or `()` for none",
    note = "a weight holds the dtype of the predictions and is where they are"
)]
pub trait LossWeight<E: Element, S, D: Device>: Sealed + Copy {
    /// The weight, if there is one.
    #[doc(hidden)]
    fn given(&self) -> Option<View<'_, D::Storage, E>>;
}
impl<E: Element, S, D: Device> LossWeight<E, S, D> for () {
    fn given(&self) -> Option<View<'_, D::Storage, E>> {
        None
    }
}
impl<E: Element, S, V: Shape + ExpandTo<S> + SameDevice<D, X>, X: Device, D: Device> LossWeight<E, S, D>
    for &Tensor<E, V, X>
{
    fn given(&self) -> Option<View<'_, D::Storage, E>> {
        Some(V::here(self).elements())
    }
}
