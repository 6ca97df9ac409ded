//! Tensors from bytes, scalars and ranges; elements copied out.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::{AnyTensor, Dims, checked_numel};
use crate::device::{AnyDevice, Backend, Dynamic, DynamicBuffer, IntoDevice};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result, collected, listed};
use crate::layout::{MemoryFormat, bounds, strides};

/// From this many elements on, memory is filled once instead of being zeroed first.
const MANY: usize = 256;

impl AnyTensor {
    /// Row-major elements from their bytes, as the machine lays them out.
    ///
    /// # Errors
    /// If there are not as many bytes as the sizes take, or a bool is neither 0 nor 1.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let x = AnyTensor::from_bytes(&[1, 0, 2, 0, 255, 255], DType::I16, &[3])?;
    /// assert_eq!(x.to_string(), "tensor([ 1,  2, -1], dtype=torch.int16)");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8], dtype: DType, sizes: &[usize]) -> Result<AnyTensor> {
        let op = "from_bytes";
        let sizes = Dims::new(op, sizes)?;
        let expected = checked_numel(op, &sizes, dtype)? * dtype.itemsize();
        if bytes.len() != expected {
            let reason = format!("{:?} elements of {dtype} take {expected} bytes, got {}", &*sizes, bytes.len());
            return Err(Error::InvalidArgument { op, reason });
        }
        if dtype == DType::Bool
            && let Some(byte) = bytes.iter().find(|&&byte| byte > 1)
        {
            return Err(Error::InvalidArgument { op, reason: format!("a bool is 0 or 1, got the byte {byte}") });
        }
        AnyTensor::row_major(op, DynamicBuffer::from_bytes(bytes)?, dtype, &sizes)
    }

    /// A tensor over a storage with as many elements as the sizes take, all of them valid.
    pub(crate) fn row_major(
        op: &'static str,
        storage: DynamicBuffer,
        dtype: DType,
        sizes: &[usize],
    ) -> Result<AnyTensor> {
        Ok(AnyTensor::fresh_row_major(storage, dtype, Dims::new(op, sizes)?))
    }

    /// A tensor over a buffer of the host from element `offset` on; all elements are valid. It shares the buffer if that is aligned for
    /// every dtype, else it copies.
    #[cfg(any(feature = "safetensors", feature = "npy", feature = "serde"))]
    pub(crate) fn row_major_from(
        op: &'static str,
        buffer: crate::storage::HostBuffer,
        offset: usize,
        dtype: DType,
        sizes: &[usize],
    ) -> Result<AnyTensor> {
        AnyTensor::strided_from(op, buffer, offset, dtype, sizes, &strides::row_major(sizes))
    }

    /// [`row_major_from`](Self::row_major_from) with strides.
    #[cfg(any(feature = "safetensors", feature = "npy", feature = "serde", feature = "dlpack"))]
    pub(crate) fn strided_from(
        op: &'static str,
        buffer: crate::storage::HostBuffer,
        offset: usize,
        dtype: DType,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<AnyTensor> {
        let sizes = Dims::new(op, sizes)?;
        let base = AnyTensor::fresh_row_major(DynamicBuffer::Cpu(buffer), dtype, sizes);
        let whole = base.viewed(offset, &sizes, strides);
        let aligned = whole.erased()?.aligned()?;
        Ok(aligned.map_or(whole, |buffer| AnyTensor::fresh(buffer, dtype, &sizes, strides)))
    }

    /// A handle to the buffer on the host, and the address of the first element.
    #[cfg(feature = "dlpack")]
    pub(crate) fn host_handle(&self, op: &'static str) -> Result<(crate::storage::HostBuffer, *const u8)> {
        if self.is_recorded() {
            return Err(Error::InvalidArgument {
                op,
                reason: "the tensor requires grad: `.detach()` first".to_owned(),
            });
        }
        let shared = match self.buffer()?.plain() {
            DynamicBuffer::Cpu(buffer) => buffer.shared(),
            _ => None,
        };
        let Some(buffer) = shared else {
            let reason = format!("the tensor is on {}, and not on the host: `.cpu()` first", self.device_name());
            return Err(Error::InvalidArgument { op, reason });
        };
        let start = buffer.start::<u8>().wrapping_add(self.first() * self.dtype.itemsize());
        Ok((buffer, start))
    }

    /// The bytes of the elements, if they are row-major on the host.
    #[cfg(any(feature = "safetensors", feature = "npy", feature = "serde"))]
    pub(crate) fn host_bytes(&self) -> Result<Option<&[u8]>> {
        let DynamicBuffer::Cpu(buffer) = self.buffer()?.plain() else { return Ok(None) };
        if !strides::is_contiguous(&self.sizes, &self.strides) {
            return Ok(None);
        }
        let width = self.dtype.itemsize();
        Ok(buffer.bytes(self.first() * width, self.numel() * width))
    }

    /// The elements' bytes in row-major order, as the machine lays them out.
    ///
    /// # Errors
    /// If there are no data, or memory runs out.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.contiguous()?.erased()?.bytes("to_bytes")
    }

    /// All elements in row-major order, as scalars.
    ///
    /// # Errors
    /// If there are no data.
    pub fn to_scalars(&self) -> Result<Vec<ScalarValue>> {
        let op = "to_scalars";
        dispatch_dtype!(op, self.dtype, E: Element => {
            let elements = Dynamic::download::<E>(self.data_as(op)?)?;
            listed(elements.into_iter().map(crate::Element::to_scalar))
        })
    }

    /// Row-major elements from scalars, each of which becomes one of the dtype as in [`full`](Self::full).
    ///
    /// # Errors
    /// If there are not as many scalars as the sizes take, one does not fit the dtype, or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, ScalarValue};
    /// let x = AnyTensor::from_scalars(&[ScalarValue::Int(1), ScalarValue::Float(2.5)], &[2], DType::F32)?;
    /// assert_eq!(x.to_string(), "tensor([1.0000, 2.5000])");
    /// assert!(AnyTensor::from_scalars(&[ScalarValue::Int(300)], &[1], DType::U8).is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_scalars(scalars: &[ScalarValue], sizes: &[usize], dtype: DType) -> Result<AnyTensor> {
        let op = "from_scalars";
        let expected = checked_numel(op, sizes, dtype)?;
        if scalars.len() != expected {
            let reason = format!("{sizes:?} takes {expected} elements, got {}", scalars.len());
            return Err(Error::InvalidArgument { op, reason });
        }
        if dtype == DType::F4E2M1FNX2 {
            return Err(Error::NotAdmitted { op, dtype, reason: "nothing converts to it".to_owned() });
        }
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        dispatch_dtype!(op, dtype, E: Castable => {
            let element = |&value: &ScalarValue| value.to_element().ok_or(Error::ScalarOutOfRange { op, value, dtype });
            let elements: Vec<E> = collected(scalars.iter().map(element))?;
            AnyTensor::from(crate::Tensor::<E, crate::any::base::as_typed::Rank1>::try_from_vec_sized(elements, [expected])?).reshape(&sizes)
        })
    }

    /// Zeros on the [default device](crate::device::default_device) (`torch.zeros`).
    ///
    /// # Errors
    /// If there are too many elements or axes, or memory runs out.
    pub fn zeros(sizes: &[usize], dtype: DType) -> Result<AnyTensor> {
        AnyTensor::zeros_on(sizes, dtype, crate::device::default_device())
    }

    /// Zeros on a device, whatever the default one is (`torch.zeros(device=…)`).
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros), and if the device is not there.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// assert!(AnyTensor::zeros_on(&[2], DType::F32, "meta")?.to_bytes().is_err());
    /// assert!(AnyTensor::zeros_on(&[2], DType::F32, "cuda:63").is_err()); // with fewer GPUs, or without CUDA
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn zeros_on(sizes: &[usize], dtype: DType, device: impl IntoDevice) -> Result<AnyTensor> {
        let sizes = Dims::new("zeros", sizes)?;
        let len = checked_numel("zeros", &sizes, dtype)? * dtype.itemsize();
        let buffer = DynamicBuffer::zeroed(AnyDevice::new(device)?.resolve()?, len)?;
        Ok(AnyTensor::fresh(buffer, dtype, &sizes, &strides::row_major(&sizes)))
    }

    /// Zeros on the host, whatever the default device is.
    pub(crate) fn on_host(sizes: &[usize], dtype: DType) -> Result<AnyTensor> {
        AnyTensor::zeros_on(sizes, dtype, AnyDevice::CPU)
    }

    /// A shape and a dtype without data, on the meta device.
    pub(crate) fn meta(sizes: &[usize], dtype: DType) -> Result<AnyTensor> {
        AnyTensor::zeros_on(sizes, dtype, AnyDevice::META)
    }

    /// Every element the same (`torch.full`).
    ///
    /// # Errors
    /// If the value does not fit the dtype, there are too many elements or axes, or memory runs out.
    pub fn full(sizes: &[usize], value: impl Scalar, dtype: DType) -> Result<AnyTensor> {
        AnyTensor::filled("full", sizes, value.value(), dtype, crate::device::default_device())
    }

    /// Ones (`torch.ones`).
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn ones(sizes: &[usize], dtype: DType) -> Result<AnyTensor> {
        AnyTensor::full(sizes, true, dtype)
    }

    /// A scalar converted to the dtype, as a zero-dim tensor; an error if it does not fit.
    pub(crate) fn scalar_of(op: &'static str, value: ScalarValue, dtype: DType) -> Result<AnyTensor> {
        if dtype == DType::F4E2M1FNX2 {
            let reason = "nothing converts to it".to_owned();
            return Err(Error::NotAdmitted { op, dtype, reason });
        }
        let refused = || Error::ScalarOutOfRange { op, value, dtype };
        crate::any::base::dispatch::dispatch_dtype!(op, dtype, E: Castable => {
            let element: E = value.to_element().ok_or_else(refused)?;
            Ok(AnyTensor::over(Dynamic::build(None, || Ok(vec![element]))?, dtype, 0, &[], &[]))
        })
    }

    /// Every element set to one value, on a device.
    pub(crate) fn filled(
        op: &'static str,
        sizes: &[usize],
        value: ScalarValue,
        dtype: DType,
        device: AnyDevice,
    ) -> Result<AnyTensor> {
        let many = sizes.iter().try_fold(1_usize, |len, &size| len.checked_mul(size)).is_some_and(|len| len > MANY);
        if many && device == AnyDevice::CPU {
            // Allocated without zeroing, then filled.
            Dims::new("zeros", sizes)?;
            checked_numel("zeros", sizes, dtype)?;
            let one = AnyTensor::scalar_of(op, value, dtype)?;
            return one.expanded_to(sizes)?.copied(&strides::row_major(sizes));
        }
        let mut tensor = AnyTensor::zeros_on(sizes, dtype, device)?;
        if !matches!(value, ScalarValue::Bool(false)) {
            tensor.fill_value(op, value)?;
        }
        Ok(tensor)
    }

    pub(crate) fn fill_value(&mut self, op: &'static str, value: ScalarValue) -> Result<()> {
        let one = AnyTensor::scalar_of(op, value, self.dtype)?;
        self.write(op, &one)
    }

    /// Writes converted elements, broadcast to the sizes of `self` (`torch.Tensor.copy_`).
    ///
    /// # Errors
    /// If the shape does not broadcast to that of `self`, there is no such conversion, or `from` has no data (on `meta`) and `self`
    /// has.
    pub fn copy_from(&mut self, from: &AnyTensor) -> Result<&mut Self> {
        self.write("copy_from", &from.to(self.dtype)?)?;
        Ok(self)
    }

    /// Writes elements of the same dtype, broadcast.
    fn write(&mut self, op: &'static str, from: &AnyTensor) -> Result<()> {
        let sizes: Vec<i64> = self.sizes.iter().map(|&size| size as i64).collect();
        // A tensor on another device is moved; a single element on the host is passed to the kernel.
        let is_apart = from.device() != self.device() && self.has_data() && from.has_data();
        let given = from.numel() == 1 && from.device() == AnyDevice::CPU;
        let from = if is_apart && !given { from.to_device(self.device())? } else { from.clone() };
        let from = from.expand(&sizes).map_err(|_| Error::Output {
            op,
            result: from.shape().into(),
            output: (&*self.sizes).into(),
        })?;
        if self.has_data() {
            from.data(op)?;
        }
        // A tensor that shares storage with `self` is copied first.
        let from = if self.shares_storage(&from) { from.copy()? } else { from };
        self.make_unique()?;
        from.erased()?.copy_into(self.erased_mut(op)?)
    }

    /// Every element set to a value, which has to fit (`torch.Tensor.fill_`).
    ///
    /// # Errors
    /// If it does not fit the dtype.
    pub fn fill_(&mut self, value: impl Scalar) -> Result<&mut Self> {
        self.fill_value("fill_", value.value())?;
        Ok(self)
    }
}

impl AnyTensor {
    /// Zeros with the sizes of another tensor, and its layout where the format is `PRESERVE` (`torch.zeros_like`).
    ///
    /// # Errors
    /// If the format is for another number of axes, or memory runs out.
    pub fn like(other: &AnyTensor, dtype: DType, format: MemoryFormat) -> Result<AnyTensor> {
        let strides = format.copied("zeros_like", &other.sizes, &other.strides)?;
        let len = checked_numel("zeros_like", &other.sizes, dtype)? * dtype.itemsize();
        let buffer = Dynamic::zeroed::<u8>(Some(other.storage()), len)?;
        Ok(AnyTensor::fresh(buffer, dtype, &other.sizes, &strides))
    }

    /// Zeros with these sizes and strides (`torch.empty_strided`).
    ///
    /// # Errors
    /// If there are too many elements, or memory runs out.
    pub fn empty_strided(sizes: &[usize], strides: &[usize], dtype: DType) -> Result<AnyTensor> {
        AnyTensor::empty_strided_on(sizes, strides, dtype, crate::device::default_device())
    }

    /// [`empty_strided`](Self::empty_strided) on a device.
    pub(crate) fn empty_strided_on(
        sizes: &[usize],
        strides: &[usize],
        dtype: DType,
        device: AnyDevice,
    ) -> Result<AnyTensor> {
        let op = "empty_strided";
        let span = bounds::span(sizes, strides).ok_or_else(|| Error::TooLarge { op, sizes: sizes.into() })?;
        AnyTensor::zeros_on(&[span], dtype, device)?.as_strided(sizes, strides, Some(0))
    }

    /// Sets the main diagonal of a matrix to one.
    pub(crate) fn fill_diagonal(&mut self) -> Result<()> {
        let one = self.scalar_on_device("eye", ScalarValue::Bool(true), self.dtype)?;
        let ones = one.expanded_to(&[self.sizes[0].min(self.sizes[1])])?;
        *self = self.with_view_overwritten("eye", |x| x.diagonal(0, 0, 1), &ones)?;
        Ok(())
    }
}
