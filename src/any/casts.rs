//! Conversions between dtypes as loops: one for every pair.

use super::AnyTensor;
use super::Buffer;
use super::dispatch::among;
use crate::cpu::erased::{self, Loop1};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;

/// The loop by which one dtype becomes another; none where they are one.
pub(super) fn cast(from: DType, to: DType) -> Result<Option<Loop1>> {
    if from == to {
        return Ok(None);
    }
    if from == DType::F4E2M1FNX2 || to == DType::F4E2M1FNX2 {
        let dtype = DType::F4E2M1FNX2;
        let reason = "it holds two packed values in a byte and converts only to itself".to_owned();
        return Err(Error::NotAdmitted { op: "to", dtype, reason });
    }
    among!("to", from, A: Castable => among!("to", to, O: Castable => Ok(Some(const { erased::cast::<A, O>() }))))
}

impl AnyTensor {
    /// [`to`](Self::to) in a memory format (`torch.Tensor.to(dtype, memory_format=…)`).
    ///
    /// # Errors
    /// As there, and if the format is for another number of axes.
    pub fn to_in(&self, dtype: DType, format: MemoryFormat) -> Result<AnyTensor> {
        if self.dtype != dtype {
            let strides = format.copied("to", &self.sizes, &self.strides)?;
            let converted = self.to(dtype)?;
            return if *converted.strides == *strides { Ok(converted) } else { converted.copied(&strides) };
        }
        if format.is_kept_by_to(&self.sizes, &self.strides) { Ok(self.clone()) } else { self.copy_in(format) }
    }

    /// Converts the elements (`torch.Tensor.to(dtype)`). To the same dtype it shares storage.
    ///
    /// # Errors
    /// If there is no such conversion (`float4_e2m1fn_x2` converts only to itself), or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, tensor};
    /// let x = AnyTensor::from(tensor![1.9, -1.9]);
    /// assert_eq!(x.to(DType::I32)?.to_string(), "tensor([ 1, -1], dtype=torch.int32)");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn to(&self, dtype: DType) -> Result<AnyTensor> {
        let Some(cast) = cast(self.dtype, dtype)? else { return Ok(self.clone()) };
        let strides = super::preserved(&self.sizes, &self.strides);
        let len = super::checked_numel("to", &self.sizes, dtype)?;
        if self.is_meta() {
            return Ok(AnyTensor::fresh(Buffer::Meta, dtype, &self.sizes, &strides));
        }
        let from = erased::place(self.host("to")?, self.first(), self.dtype.itemsize(), None);
        // SAFETY: the strides of a fresh result are dense; what a tensor reaches is valid.
        let result = unsafe {
            erased::fresh(len, dtype.itemsize(), |out| {
                let out = erased::Place { start: out, width: dtype.itemsize(), cast: None };
                let kernel = core::ptr::null();
                erased::run(cast, kernel, [out, from], &self.sizes, [&strides, &self.strides], false);
            })
        }?;
        Ok(AnyTensor::fresh(Buffer::Cpu(result), dtype, &self.sizes, &strides))
    }
}
