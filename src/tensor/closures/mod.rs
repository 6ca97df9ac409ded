//! Closures over elements, on the host: `map`, `zip_map`, `map_lanes`, `fold` and their forms. The loops are `cpu/closures.rs`.

// Documentation lists methods in this order.
pub(crate) mod map;

pub(crate) mod lanes;

pub(crate) mod fold;

pub(crate) mod forms;
pub(crate) mod zip;

use crate::device::Cpu;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::tensor::{OnHost, Tensor};

/// An operand as profiles see it.
#[derive(Clone, Copy)]
struct Seen<'a> {
    dtype: DType,
    sizes: &'a [usize],
    strides: &'a [usize],
}
impl<'a> Seen<'a> {
    fn of<E: Element, S: Shape>(x: &'a Tensor<E, S>) -> Self {
        let view = x.elements();
        Seen { dtype: E::DTYPE, sizes: view.sizes, strides: view.strides }
    }
}

/// Calls a closure with the elements of operands: profiles record it under `op`, with the bytes that it `writes` of its result.
#[inline(always)]
#[cfg_attr(not(feature = "profile"), allow(unused_variables))]
fn recorded<'a, T>(
    op: &'static str,
    operands: impl IntoIterator<Item = Seen<'a>>,
    writes: impl FnOnce(&T) -> usize,
    run: impl FnOnce() -> Result<T>,
) -> Result<T> {
    #[cfg(feature = "profile")]
    return crate::profile::span(
        op,
        || {
            let mut about = crate::profile::About::default();
            operands.into_iter().for_each(|of| about.operand(of.dtype, of.sizes, of.strides, false));
            (crate::profile::Clock::HOST, <Cpu as crate::Device>::name(), about)
        },
        run,
        |given| given.as_ref().map_or(0, writes) as u64,
    );
    #[cfg(not(feature = "profile"))]
    run()
}
/// The bytes of a new tensor.
fn bytes<E: Element, S: Shape>(made: &Tensor<E, S>) -> usize {
    made.numel() * size_of::<E>()
}

/// A device whose elements closures run over: [`Cpu`].
#[diagnostic::on_unimplemented(
    message = "closures run on the host: they can't be called with the elements of a tensor on `{Self}`",
    label = "a closure is compiled for the host, and this tensor is not there",
    note = "move the tensor first, `.to_device::<Cpu>()?`, or write a function with `#[formula]`, or an expression with `fused!`, which run on every device"
)]
#[cfg_attr(
    feature = "grad",
    diagnostic::on_unimplemented(
        note = "on a tape a closure has no derivative: write it with `#[formula]`, operations or `grad::custom`; `.detach()` takes a tensor off the tape"
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
