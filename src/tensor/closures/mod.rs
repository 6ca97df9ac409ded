//! Closures over elements, on the host: `map`, `zip_map`, `map_lanes`, `fold` and their forms. The loops are `cpu/closures.rs`.

// Documentation lists methods in this order.
pub(crate) mod map;

pub(crate) mod lanes;

pub(crate) mod fold;

pub(crate) mod forms;
pub(crate) mod zip;

use crate::device::Cpu;
use crate::dtype::Element;
use crate::error::Error;
use crate::shape::Shape;
use crate::tensor::{OnHost, Tensor};

/// A device whose elements closures run over: [`Cpu`].
#[diagnostic::on_unimplemented(
    message = "closures run on the host: they can't be called with the elements of a tensor on `{Self}`",
    label = "a closure is compiled for the host, and this tensor is not there",
    note = "move the tensor first, `.to_device::<Cpu>()?`, or write the formula with `fused!`, which runs on every device"
)]
#[cfg_attr(
    feature = "grad",
    diagnostic::on_unimplemented(
        note = "on a tape a closure has no derivative: write it with operations, `fused!` or `grad::custom`; `.detach()` takes a tensor off the tape"
    )
)]
pub trait HostClosures: OnHost {
    #[doc(hidden)]
    fn from_host<E: Element, S: Shape>(tensor: Tensor<E, S>) -> Tensor<E, S, Self>;
}
#[diagnostic::do_not_recommend]
impl HostClosures for Cpu {
    #[inline(always)]
    fn from_host<E: Element, S: Shape>(tensor: Tensor<E, S>) -> Tensor<E, S> {
        tensor
    }
}

/// What a closure may fail with, in a `try_` form: an error that castiron's own [`Error`] converts to, for example of memory that ran out.
#[diagnostic::on_unimplemented(
    message = "a closure over elements can't fail with `{Self}`: castiron's `Error` does not convert to it",
    label = "memory may run out, too, so this error must have room for castiron's",
    note = "let the closure return `Result<_, Box<dyn std::error::Error>>`, in which `?` takes any error, or implement `From<castiron::Error>`"
)]
pub trait ClosureError: From<Error> {}
#[diagnostic::do_not_recommend]
impl<X: From<Error>> ClosureError for X {}
