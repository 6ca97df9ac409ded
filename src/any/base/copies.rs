//! Copies of a tensor: contiguous, in a memory format, on another device.

use crate::any::AnyTensor;
use crate::device::{AnyDevice, IntoDevice};
use crate::error::Result;
use crate::layout::dims::Dims;
use crate::layout::{MemoryFormat, strides};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The tensor on another device (`torch.Tensor.to(device)`). On the same device it shares storage; a tensor moved to `meta` has no
    /// elements.
    ///
    /// # Errors
    /// If the device is not there, or a meta tensor, which has no elements, is moved to another device.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1.0, 2.0]);
    /// assert_eq!(x.to_device("meta")?.to_string(), "tensor(..., device='meta', size=(2,))");
    /// assert!(x.to_device("cuda:63").is_err()); // with fewer GPUs, or without CUDA
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "cuda")]
    #[doc(alias = "cpu")]
    pub fn to_device(&self, device: impl IntoDevice) -> Result<AnyTensor> {
        let device = AnyDevice::new(device)?.resolve()?;
        if device == self.device() {
            return Ok(self.clone());
        }
        self.viewed_keeping_bit(|x| {
            if x.is_recorded() {
                return crate::any::grad::to_device(x, device);
            }
            let strides = preserved(&x.sizes, &x.strides);
            Ok(AnyTensor::fresh(x.erased()?.moved(device, &strides)?, x.dtype, &x.sizes, &strides))
        })
    }

    /// [`to_device("cpu")`](Self::to_device) (`torch.Tensor.cpu`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert!(x.cpu()?.shares_storage(&x)); // it is there
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn cpu(&self) -> Result<AnyTensor> {
        self.to_device(AnyDevice::CPU)
    }

    /// [`to_device("cuda")`](Self::to_device), the current GPU (`torch.Tensor.cuda`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// match x.cuda() {
    ///     Ok(x) => assert_eq!(x.device().kind().name(), "cuda"),
    ///     Err(error) => assert!(error.to_string().contains("is not available")), // on a machine without CUDA
    /// }
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn cuda(&self) -> Result<AnyTensor> {
        self.to_device("cuda")
    }

    /// Whether elements are contiguous in a memory format (`torch.Tensor.is_contiguous(memory_format=…)`).
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, MemoryFormat};
    /// let x = AnyTensor::zeros(&[1, 2, 3, 4], DType::F32)?;
    /// assert!(x.is_contiguous_in(MemoryFormat::CONTIGUOUS) && !x.is_contiguous_in(MemoryFormat::CHANNELS_LAST));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_contiguous_in(&self, format: MemoryFormat) -> bool {
        format.is_order_of(&self.sizes, &self.strides)
    }

    /// The tensor itself if it is contiguous in the format, else a copy that is (`torch.Tensor.contiguous(memory_format=…)`).
    ///
    /// # Errors
    /// If the format is for another number of axes, or is `PRESERVE`.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, MemoryFormat};
    /// let x = AnyTensor::zeros(&[1, 2, 3, 4], DType::F32)?.contiguous_in(MemoryFormat::CHANNELS_LAST)?;
    /// assert_eq!(x.stride(), [24, 1, 8, 2]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(contiguous(input, memory_format = MemoryFormat::CONTIGUOUS))]
    pub fn contiguous_in(&self, format: MemoryFormat) -> Result<AnyTensor> {
        match format.made_contiguous(&self.sizes, &self.strides)? {
            Some(strides) => self.copied(&strides),
            None => Ok(self.clone()),
        }
    }

    /// A copy in a format (`torch.clone(memory_format=…)`).
    ///
    /// # Errors
    /// If the format is for another number of axes, or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, MemoryFormat, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]).t()?;
    /// assert_eq!(x.copy_in(MemoryFormat::PRESERVE)?.stride(), [1, 2]);
    /// assert_eq!(x.copy_in(MemoryFormat::CONTIGUOUS)?.stride(), [2, 1]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(clone(input, memory_format = MemoryFormat::PRESERVE))]
    pub fn copy_in(&self, format: MemoryFormat) -> Result<AnyTensor> {
        self.copied(&format.copied("clone", &self.sizes, &self.strides)?)
    }

    #[op(detach(input))]
    fn detach_by_name(&self) -> Result<AnyTensor> {
        Ok(self.off_tape())
    }

    /// Whether elements are in row-major order without gaps (`torch.Tensor.is_contiguous`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert!(x.is_contiguous() && !x.t()?.is_contiguous());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        strides::is_contiguous(&self.sizes, &self.strides)
    }

    /// A dense copy with these strides.
    pub(in crate::any) fn copied(&self, strides: &[usize]) -> Result<AnyTensor> {
        let buffer = self.erased()?.copied(strides)?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, strides))
    }

    /// The tensor itself if it is contiguous, else a row-major copy (`torch.Tensor.contiguous`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert!(x.contiguous()?.shares_storage(&x) && !x.t()?.contiguous()?.shares_storage(&x));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn contiguous(&self) -> Result<AnyTensor> {
        if self.is_contiguous() { Ok(self.clone()) } else { self.copied(&strides::row_major(&self.sizes)) }
    }

    /// A copy that keeps the strides if they leave no gaps (`torch.clone`); [`Clone`] shares storage instead.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert!(x.clone().shares_storage(&x) && !x.copy()?.shares_storage(&x));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn copy(&self) -> Result<AnyTensor> {
        self.copied(&preserved(&self.sizes, &self.strides))
    }
}

/// The strides of a copy that keeps the layout, as [`copy`](AnyTensor::copy) does.
pub(in crate::any) fn preserved(sizes: &[usize], strides: &[usize]) -> Dims {
    let mut kept = Dims::known(strides);
    strides::write_preserved(sizes, strides, &mut kept);
    kept
}
