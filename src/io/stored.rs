//! `StoredTensor`: tensors of any dtype, shape and device as trait objects, for saving and listing.

use crate::device::{Cpu, Device};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::shape::Shape;
use crate::storage::bytes_of;
use crate::tensor::Tensor;
#[cfg(feature = "grad")]
use crate::{
    cpu::stepping::Total,
    optim::learned::{At, Lent},
};
use core::any::Any;

mod sealed {
    pub trait Sealed {}
}

/// A tensor of any dtype, shape and device as a trait object: `&x` of a [`Tensor`] or an `AnyTensor` coerces to `&dyn StoredTensor`.
///
/// ```
/// use castiron::{Tensor, io::StoredTensor, shape, tensor};
/// let (a, b) = (tensor![1.0, 2.0], tensor![[true]]);
/// let both: [&dyn StoredTensor; 2] = [&a, &b];
/// assert_eq!(both.map(|x| (x.dtype().name(), x.sizes().len())), [("float32", 1), ("bool", 2)]);
/// assert!(both[0].as_any().is::<Tensor<f32, shape![2]>>());
/// ```
pub trait StoredTensor: sealed::Sealed + Any {
    /// The dtype.
    fn dtype(&self) -> DType;
    /// The sizes.
    fn sizes(&self) -> &[usize];
    /// The device, in PyTorch's notation.
    fn on_device(&self) -> String;
    /// For downcasting to the concrete tensor.
    fn as_any(&self) -> &dyn Any;
    /// The axis of a mesh along which each axis is cut: for `castiron-mesh`.
    #[doc(hidden)]
    fn cuts(&self) -> &'static [Option<(usize, &'static str)>] {
        &[]
    }
    /// Calls the function with the bytes of the elements in row-major order and native byte order: the tensor's own bytes if it is
    /// row-major on the host, else a copy.
    ///
    /// # Errors
    /// If the tensor has no data, memory runs out, or the function fails.
    fn with_bytes(&self, run: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
    /// The elements in row-major order.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn scalars(&self) -> Result<Vec<crate::ScalarValue>>;
    /// The elements for reading: as they are, or with these strides.
    #[cfg(feature = "grad")]
    #[doc(hidden)]
    fn lend(&self, _strides: Option<&[usize]>) -> Result<Lent> {
        Ok(Lent { at: At::Nowhere, kept: None })
    }
    /// A total of this tensor and another of the same type, whose elements are not on the host.
    #[cfg(feature = "grad")]
    #[doc(hidden)]
    fn total_elsewhere(&self, _total: Total, _other: &dyn StoredTensor) -> Result<f64> {
        Ok(0.0)
    }
}

impl<E: Element, S: Shape, D: Device> sealed::Sealed for Tensor<E, S, D> {}
impl<E: Element, S: Shape, D: Device> StoredTensor for Tensor<E, S, D> {
    fn dtype(&self) -> DType {
        E::DTYPE
    }
    fn sizes(&self) -> &[usize] {
        self.parts.sizes.as_ref()
    }
    fn on_device(&self) -> String {
        D::name()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn cuts(&self) -> &'static [Option<(usize, &'static str)>] {
        S::CUTS
    }
    fn with_bytes(&self, run: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let host = self.as_any().downcast_ref::<Tensor<E, S, Cpu>>();
        match host.and_then(|host| host.as_slice()) {
            Some(elements) => run(bytes_of(elements)),
            None => run(bytes_of(&D::download(self.elements())?)),
        }
    }
    #[cfg(feature = "serde")]
    fn scalars(&self) -> Result<Vec<crate::ScalarValue>> {
        crate::error::listed(D::download(self.elements())?.into_iter().map(E::to_scalar))
    }
    #[cfg(feature = "grad")]
    fn lend(&self, strides: Option<&[usize]>) -> Result<Lent> {
        self.lent(strides)
    }
    #[cfg(feature = "grad")]
    fn total_elsewhere(&self, total: Total, other: &dyn StoredTensor) -> Result<f64> {
        self.total_by_device(total, other)
    }
}

/// Numbers are zero-dim tensors, for options that are saved beside tensors.
#[cfg(feature = "safetensors")]
macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl sealed::Sealed for $ty {}
        impl StoredTensor for $ty {
            fn dtype(&self) -> DType {
                <$ty>::DTYPE
            }
            fn sizes(&self) -> &[usize] {
                &[]
            }
            fn on_device(&self) -> String {
                Cpu::name()
            }
            fn as_any(&self) -> &dyn Any {
                self
            }
            fn with_bytes(&self, run: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
                run(bytes_of(core::slice::from_ref(self)))
            }
            #[cfg(feature = "serde")]
            fn scalars(&self) -> Result<Vec<crate::ScalarValue>> {
                Ok(vec![self.to_scalar()])
            }
        }
    )*};
}
#[cfg(feature = "safetensors")]
numbers!(f64 i64 bool);

#[cfg(feature = "any")]
impl sealed::Sealed for crate::AnyTensor {}
#[cfg(feature = "any")]
impl StoredTensor for crate::AnyTensor {
    fn dtype(&self) -> DType {
        crate::AnyTensor::dtype(self)
    }
    fn sizes(&self) -> &[usize] {
        self.shape()
    }
    fn on_device(&self) -> String {
        self.device_name().to_owned()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn with_bytes(&self, run: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self.host_bytes()? {
            Some(bytes) => run(bytes),
            None => run(&self.to_bytes()?),
        }
    }
    #[cfg(feature = "serde")]
    fn scalars(&self) -> Result<Vec<crate::ScalarValue>> {
        self.to_scalars()
    }
    #[cfg(feature = "grad")]
    fn lend(&self, strides: Option<&[usize]>) -> Result<Lent> {
        self.lent(strides)
    }
    #[cfg(feature = "grad")]
    fn total_elsewhere(&self, total: Total, other: &dyn StoredTensor) -> Result<f64> {
        self.total_by_device(total, other)
    }
}
