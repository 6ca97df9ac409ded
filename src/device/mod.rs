//! Devices as types: `Cpu`, `Cuda<N>`, `Meta`; the devices that operands may be on; the operations that a device implements; and devices as
//! values: [`AnyDevice`].
//!
//! A device is one implementation of `Backend`. Depends on dtypes, shapes, storage and the descriptions of operations, not on tensors.

#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
mod attention;
mod backend;
pub(crate) mod call;
mod colocation;
mod convolution;
mod cpu;
mod cuda;
mod current;
#[cfg(all(test, feature = "profile"))]
pub(crate) mod decorated;
#[cfg(feature = "any")]
mod dynamic;
mod meta;
mod on_host;
mod value;

#[cfg(feature = "grad")]
pub(crate) use attention::composed as attention_composed;
#[cfg(feature = "grad")]
pub(crate) use attention::shares as attention_shares;
pub use backend::Backend;
pub use colocation::{Anywhere, Meet, Place, Receives, Source};
#[cfg(feature = "grad")]
pub(crate) use convolution::{copied as weight_copied, product_with_copy};
pub use cpu::Cpu;
pub use cuda::Cuda;
#[cfg(feature = "grad")]
pub(crate) use cuda::derivative as cuda_derivative;
#[cfg(feature = "cuda")]
pub(crate) use cuda::gpu;
pub(crate) use cuda::transfer;
#[cfg(feature = "cuda")]
pub use cuda::{cublas_lt_version, cuda_device_count, synchronize};
pub use current::{
    CurrentDeviceGuard, DefaultDeviceGuard, current_device, default_device, scoped_current_device,
    scoped_default_device, set_current_device, set_default_device,
};
#[cfg(feature = "any")]
pub(crate) use dynamic::{Dynamic, DynamicBuffer, erased};
#[cfg(all(feature = "any", feature = "grad"))]
pub(crate) use dynamic::{Seen, is_enabled, leaf_written, seen, set_enabled};
pub use meta::{Meta, NoData};
pub(crate) use on_host::{Flat, expect_constant, on_host};
pub use value::{AnyDevice, DeviceType, IntoDevice};

/// A device as a type: where a tensor's elements are and its operations run.
///
/// `D: Device` is the only bound that generic code needs: every device runs every operation.
///
/// ```
/// use castiron::{Device, Dtype, Shape, Tensor};
/// fn double<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
///     x + x
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a device", label = "expected `Cpu`, `Cuda<N>` or `Meta`")]
pub trait Device:
    Backend
    + IntoDevice
    + Place<Buffer = <Self as Backend>::Storage>
    + Copy
    + Default
    + core::fmt::Debug
    + Differentiates
    + Send
    + Sync
    + 'static
{
    /// The device as PyTorch prints it: `cpu`, `cuda:0`, `meta`.
    fn name() -> String;
}

/// Gradients run on every device.
#[cfg(feature = "grad")]
pub(crate) use crate::grad::PullsBack as Differentiates;
/// Nothing is asked of devices where there are no gradients.
#[cfg(not(feature = "grad"))]
mod without_gradients {
    #[doc(hidden)]
    pub trait Differentiates {}
    impl<D> Differentiates for D {}
}
#[cfg(not(feature = "grad"))]
use without_gradients::Differentiates;
