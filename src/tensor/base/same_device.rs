//! Further tensor operands that must have the device and dtype of `self`: weights of layers, targets of losses.

use crate::device::Device;
use crate::dtype::Element;
use crate::sealed::Sealed;
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Sealed: what stands for a tensor is that tensor, also where its shape has a user's name.
mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{A}` can't be made the same as `{B}`",
        label = "this trait is castiron's alone",
        note = "a device, and a dtype, is the same as itself"
    )]
    pub trait Same<A, B> {}
    impl<T, A> Same<A, A> for T {}
}

/// A tensor on `X`, whose shape depends on `Self`, is an operand together with one on `D`: the two are one device.
///
/// The parameter of a method is `&Tensor<E, T, X>` with the bound `T: SameDevice<D, X>`, and not `&Tensor<E, T, D>`, for which rustc
/// reports "mismatched types". The bound is resolved when `T`, the shape of the argument, is known; if the argument does not determine `X`,
/// it is `D`.
#[diagnostic::on_unimplemented(
    message = "operands are on different devices: `{D}` and `{X}`",
    label = "expected tensors on `{D}`, found one on `{X}`",
    note = "move one of them with `.to_device::<{D}>()`; a module's weights are moved together by `ToDevice`"
)]
#[cfg_attr(
    feature = "grad",
    diagnostic::on_unimplemented(
        note = "tensors in the closure of `value_and_grad` are on `Taped`: pass the other beside the parameters, `net.value_and_grad((&x, &y), |net, (x, y)| …)`; `.detach()` what leaves the closure"
    )
)]
pub trait SameDevice<D: Device, X: Device>: sealed::Same<D, X> {
    /// The tensor as one on device `D`.
    #[doc(hidden)]
    fn here<E: Element, S: Shape>(tensor: &Tensor<E, S, X>) -> &Tensor<E, S, D>;
    #[doc(hidden)]
    fn here_mut<E: Element, S: Shape>(tensor: &mut Tensor<E, S, X>) -> &mut Tensor<E, S, D>;
}
impl<T, D: Device> SameDevice<D, D> for T {
    #[inline]
    fn here<E: Element, S: Shape>(tensor: &Tensor<E, S, D>) -> &Tensor<E, S, D> {
        tensor
    }
    #[inline]
    fn here_mut<E: Element, S: Shape>(tensor: &mut Tensor<E, S, D>) -> &mut Tensor<E, S, D> {
        tensor
    }
}

/// A tensor of dtype `F`, whose shape depends on `Self`, is an operand of `Op`, which takes one dtype, together with one of dtype `E`.
///
/// The parameter of a method is `&Tensor<F, T, X>` with the bound `T: SameDtype<E, F, Op>`, and not `&Tensor<E, T, X>`, for the reason
/// given at [`SameDevice`]: if the argument does not determine `F`, it is `E`. (`SameDtypeFor` does not infer it.)
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes tensors of one dtype, got `{E}` and `{F}`",
    label = "expected a tensor of dtype `{E}`, found one of dtype `{F}`",
    note = "there is no promotion here; cast one of them, for example `.to::<{E}>()`"
)]
pub trait SameDtype<E: Element, F: Element, Op>: sealed::Same<E, F> {
    /// The tensor as one of dtype `E`.
    #[doc(hidden)]
    fn alike<S: Shape, D: Device>(tensor: &Tensor<F, S, D>) -> &Tensor<E, S, D>;
}
impl<T, E: Element, Op> SameDtype<E, E, Op> for T {
    #[inline]
    fn alike<S: Shape, D: Device>(tensor: &Tensor<E, S, D>) -> &Tensor<E, S, D> {
        tensor
    }
}

/// `Some(&weight)`, or `None`, which determines neither dtype nor device: so methods need no type parameters for these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no weight or bias of shape `{S}` and dtype `{E}`",
    label = "expected `Some(&weight)` or `None`",
    note = "it holds the dtype of the tensor, `.to::<{E}>()`; a view is passed as `Some(&*view)`"
)]
pub trait Optional<E: Element, S: Shape, D: Device>: Sealed {
    /// The tensor, if there is one.
    #[doc(hidden)]
    fn given(&self) -> Option<&Tensor<E, S, D>>;
}
impl<E: Element, S: Shape + SameDevice<D, X>, X: Device, D: Device> Optional<E, S, D> for Option<&Tensor<E, S, X>> {
    #[inline]
    fn given(&self) -> Option<&Tensor<E, S, D>> {
        self.map(S::here)
    }
}
