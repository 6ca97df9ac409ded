//! Which devices the operands of one operation may be on: the same one, or a zero-dim CPU tensor together with a tensor on another device,
//! to which it is copied.
//!
//! Source: PyTorch, "Tensor Attributes", torch.device; `tests/oracle/device.json`. A zero-dim tensor on another device is never copied to
//! the CPU. The bound is on the operand's place, so code generic over one device needs none.

use super::{Backend, Cpu, Cuda, Device, Meta};
use crate::dtype::scalar::{Kind, TensorKind, ZeroDim};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::expression::{AXES, Expression, Leaf, Splat};
use crate::sealed::Sealed;
use crate::storage::View;

/// The place of an operand: a device, or [`Anywhere`] for a Rust scalar.
pub trait Place: Sealed + 'static {
    /// The storage of elements there.
    type Buffer;
}

/// The place of a Rust scalar, which is compatible with every device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anywhere;

/// Uninhabited: scalars have no buffer.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum NoBuffer {}

impl Sealed for Anywhere {}
impl Place for Anywhere {
    type Buffer = NoBuffer;
}

/// An operand, seen from the device that runs the operation.
#[doc(hidden)]
pub enum Source<'a, D: Device, E> {
    /// Elements on the device.
    View(View<'a, D::Storage, E>),
    /// One element, read on the CPU.
    Value(E),
}

/// An operand of kind `K` on device `Self` and one of kind `OtherKind` on `Other` may be combined.
///
/// Every device implements it for itself, for all kinds.
#[diagnostic::on_unimplemented(
    message = "operands are on different devices: `{Self}` and `{Other}`",
    label = "expected an operand on `{Self}`, found one on `{Other}`",
    note = "move one of them with `.to_device::<{Self}>()`; only a zero-dim CPU tensor joins another device by itself"
)]
#[cfg_attr(
    feature = "grad",
    diagnostic::on_unimplemented(
        note = "tensors in the closure of `value_and_grad` are on `Taped`: pass the other beside the parameters, `net.value_and_grad((&x, &y), |net, (x, y)| …)`; `.detach()` what leaves the closure"
    )
)]
pub trait Meet<Other: Place, K: Kind, OtherKind: Kind>: Device {
    /// The device of the result.
    type Output: Device;
    /// Whether [`left`](Self::left) gives a value. (A constant: what an operand is not is not compiled.)
    #[doc(hidden)]
    const LEFT_IS_VALUE: bool = false;
    /// Whether [`right`](Self::right) gives a value.
    #[doc(hidden)]
    const RIGHT_IS_VALUE: bool = false;
    #[doc(hidden)]
    fn left<'a, E: crate::dtype::Element>(view: View<'a, Self::Storage, E>) -> Result<Source<'a, Self::Output, E>>;
    #[doc(hidden)]
    fn right<'a, E: crate::dtype::Element>(view: View<'a, Other::Buffer, E>) -> Result<Source<'a, Self::Output, E>>;
}

impl<D: Device, K: Kind, OtherKind: Kind> Meet<D, K, OtherKind> for D {
    type Output = D;
    #[inline]
    fn left<'a, E: crate::dtype::Element>(view: View<'a, D::Storage, E>) -> Result<Source<'a, D, E>> {
        Ok(Source::View(view))
    }
    #[inline]
    fn right<'a, E: crate::dtype::Element>(view: View<'a, D::Storage, E>) -> Result<Source<'a, D, E>> {
        Ok(Source::View(view))
    }
}

impl<D: Device, K: Kind, OtherKind: Kind> Meet<Anywhere, K, OtherKind> for D {
    type Output = D;
    fn left<'a, E: crate::dtype::Element>(view: View<'a, D::Storage, E>) -> Result<Source<'a, D, E>> {
        Ok(Source::View(view))
    }
    fn right<'a, E: crate::dtype::Element>(view: View<'a, NoBuffer, E>) -> Result<Source<'a, D, E>> {
        match *view.buffer {}
    }
}

/// Lets a zero-dim CPU tensor be combined with tensors on these devices.
macro_rules! cpu_joins {
    ($([$($n:ident)?] $device:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$(const $n: usize,)? OtherKind: TensorKind> Meet<$device, ZeroDim, OtherKind> for Cpu {
            type Output = $device;
            const LEFT_IS_VALUE: bool = true;
            fn left<'a, E: crate::dtype::Element>(view: View<'a, <Cpu as Backend>::Storage, E>) -> Result<Source<'a, $device, E>> {
                Ok(Source::Value(Cpu::peek(view)?))
            }
            fn right<'a, E: crate::dtype::Element>(view: View<'a, <$device as Backend>::Storage, E>) -> Result<Source<'a, $device, E>> {
                Ok(Source::View(view))
            }
        }
        #[diagnostic::do_not_recommend]
        impl<$(const $n: usize,)? K: TensorKind> Meet<Cpu, K, ZeroDim> for $device {
            type Output = $device;
            const RIGHT_IS_VALUE: bool = true;
            fn left<'a, E: crate::dtype::Element>(view: View<'a, <$device as Backend>::Storage, E>) -> Result<Source<'a, $device, E>> {
                Ok(Source::View(view))
            }
            fn right<'a, E: crate::dtype::Element>(view: View<'a, <Cpu as Backend>::Storage, E>) -> Result<Source<'a, $device, E>> {
                Ok(Source::Value(Cpu::peek(view)?))
            }
        }
        impl<$(const $n: usize)?> Receives<Cpu, ZeroDim> for $device {
            const IS_VALUE: bool = true;
            type Part<E: crate::dtype::Element> = Splat<E>;
            fn part<E: crate::dtype::Element>(view: View<'_, <Cpu as Backend>::Storage, E>, _: &[usize]) -> Result<Splat<E>> {
                Ok(Splat(Cpu::peek(view)?))
            }
            fn right<'a, E: crate::dtype::Element>(view: View<'a, <Cpu as Backend>::Storage, E>) -> Result<Source<'a, Self, E>> {
                Ok(Source::Value(Cpu::peek(view)?))
            }
        }
    )*};
}
cpu_joins! {
    [N] Cuda<N>;
    [] Meta;
}

/// An operation that writes to a tensor on `Self` takes an operand of kind `OtherKind` on `Other`.
#[diagnostic::on_unimplemented(
    message = "operands are on different devices: `{Self}` and `{Other}`",
    label = "expected an operand on `{Self}`, found one on `{Other}`",
    note = "move the operand with `.to_device::<{Self}>()`; only a zero-dim CPU tensor joins another device by itself"
)]
#[cfg_attr(
    feature = "grad",
    diagnostic::on_unimplemented(
        note = "tensors in the closure of `value_and_grad` are on `Taped`: pass the other beside the parameters, `net.value_and_grad((&x, &y), |net, (x, y)| …)`; `.detach()` what leaves the closure"
    )
)]
pub trait Receives<Other: Place, OtherKind: Kind>: Device {
    /// Whether [`right`](Self::right) gives a value.
    #[doc(hidden)]
    const IS_VALUE: bool = false;
    /// The operand in an expression: a leaf, or a single value.
    #[doc(hidden)]
    type Part<E: crate::dtype::Element>: Expression<Elem = E>;
    /// The operand in an expression over elements of these sizes, to which it is broadcast.
    #[doc(hidden)]
    fn part<E: crate::dtype::Element>(view: View<'_, Other::Buffer, E>, sizes: &[usize]) -> Result<Self::Part<E>>;
    #[doc(hidden)]
    fn right<'a, E: crate::dtype::Element>(view: View<'a, Other::Buffer, E>) -> Result<Source<'a, Self, E>>;
}
impl<D: Device, OtherKind: Kind> Receives<D, OtherKind> for D {
    type Part<E: crate::dtype::Element> = Leaf<E>;
    fn part<E: crate::dtype::Element>(view: View<'_, D::Storage, E>, sizes: &[usize]) -> Result<Leaf<E>> {
        let mut steps = [0; AXES];
        strides::write_broadcast(view.sizes, view.strides, sizes, &mut steps[..sizes.len()]);
        Ok(Leaf::new(D::address(view), steps))
    }
    fn right<'a, E: crate::dtype::Element>(view: View<'a, D::Storage, E>) -> Result<Source<'a, D, E>> {
        Ok(Source::View(view))
    }
}
impl<D: Device, OtherKind: Kind> Receives<Anywhere, OtherKind> for D {
    type Part<E: crate::dtype::Element> = Splat<E>;
    fn part<E: crate::dtype::Element>(view: View<'_, NoBuffer, E>, _: &[usize]) -> Result<Splat<E>> {
        match *view.buffer {}
    }
    fn right<'a, E: crate::dtype::Element>(view: View<'a, NoBuffer, E>) -> Result<Source<'a, D, E>> {
        match *view.buffer {}
    }
}
