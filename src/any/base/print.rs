//! The element of a tensor as a scalar, and tensors as text.

use super::dispatch::dispatch_dtype;
use crate::any::AnyTensor;
use crate::describe::{Describe, Description, Seen, Statistics, look, looked_at};
use crate::device::{Backend, Dynamic};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::tensor::Printed;
use core::fmt;

impl AnyTensor {
    /// The element at `at` elements from the first; `None` on a device without data.
    pub(in crate::any) fn element(&self, at: usize) -> Option<ScalarValue> {
        let buffer = self.buffer().ok()?;
        let value = dispatch_dtype!("item", self.dtype, E: Element => {
            let view = crate::storage::View::<_, E>::new(buffer, self.offset + at, &[], &[]);
            Dynamic::peek(view).map(Element::to_scalar)
        });
        value.ok()
    }

    /// The only element as a scalar (`torch.Tensor.item`).
    ///
    /// # Errors
    /// If there is not exactly one element, or no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, ScalarValue, tensor};
    /// assert_eq!(AnyTensor::from(tensor![1, 2]).sum(None, false, None)?.item()?, ScalarValue::Int(3));
    /// assert!(AnyTensor::from(tensor![1, 2]).item().is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn item(&self) -> Result<ScalarValue> {
        if self.numel() != 1 {
            let reason = format!("a tensor of one element is wanted, got one of shape {:?}", self.shape());
            return Err(Error::InvalidArgument { op: "item", reason });
        }
        if self.dtype == DType::F4E2M1FNX2 {
            let reason = "an element holds two numbers".to_owned();
            return Err(Error::NotAdmitted { op: "item", dtype: self.dtype, reason });
        }
        self.element(0).ok_or(Error::NoData { op: "item" })
    }
}

/// Up to this many elements, a whole tensor is copied from the GPU for printing.
const WHOLE: usize = 1 << 16;

/// As PyTorch prints a tensor; `{:.2}`, `{:8}` and `{:#}` as of [`Tensor`](crate::Tensor).
impl fmt::Display for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, has_data) = (self.device_name(), self.has_data());
        // Elements of a GPU are copied to the host together, not one by one; of a large tensor only those that are printed, unless all of them are (`{:#}`).
        if has_data
            && self.device() != crate::AnyDevice::CPU
            && (self.numel() <= WHOLE || f.alternate())
            && let Ok(host) = self.cpu()
        {
            let (sizes, strides, element) = (&*host.sizes, &*host.strides, |at| host.element(at));
            return Printed { dtype: self.dtype, device, has_data, sizes, strides, element: &element }.fmt(f);
        }
        let (sizes, strides, element) = (&*self.sizes, &*self.strides, |at| self.element(at));
        Printed { dtype: self.dtype, device, has_data, sizes, strides, element: &element }.fmt(f)
    }
}

impl Describe for AnyTensor {
    fn about(&self) -> Description {
        Description {
            dtype: self.dtype,
            shape: self.shape().to_vec(),
            stride: self.stride().to_vec(),
            storage_offset: self.offset,
            device: self.device_name().to_owned(),
            statistics: None,
        }
    }
    fn statistics(&self) -> Option<Statistics> {
        let look_at_all = |seen: &mut Seen| -> Result<()> {
            let buffer = self.buffer()?;
            dispatch_dtype!("describe", self.dtype, E: Element => {
                let view = crate::storage::View::<_, E>::new(buffer, self.offset, &self.sizes, &self.strides);
                look(view, &mut |part| Dynamic::download::<E>(part), seen)
            })
        };
        if self.has_data() { looked_at(self.dtype, look_at_all) } else { None }
    }
    #[cfg(feature = "evcxr")]
    fn bytes(&self) -> Option<Vec<u8>> {
        if self.dtype == DType::U8 { self.to_bytes().ok() } else { None }
    }
}

/// The dtype, shape and device, then the elements as `Display` prints them.
impl fmt::Debug for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyTensor")
            .field("dtype", &format_args!("{}", self.dtype))
            .field("shape", &self.shape())
            .field("stride", &self.stride())
            .field("storage_offset", &self.storage_offset())
            .field("device", &format_args!("{}", self.device_name()))
            .field("elements", &format_args!("{self}"))
            .finish()
    }
}
