//! Views of the same bytes as another dtype.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use super::moves::invalid;
use super::{AnyTensor, Buffer, Dims};
use crate::device::Cpu;
use crate::dtype::DType;
use crate::error::{Error, Result};

impl AnyTensor {
    /// The bits as another dtype (`torch.Tensor.view(dtype)`): a wider one takes several elements of the last axis, a narrower one
    /// gives several.
    ///
    /// # Errors
    /// If the last axis, the strides or the offset do not fit the wider elements, or bytes seen as bools are not 0 and 1.
    pub fn view_dtype(&self, dtype: DType) -> Result<AnyTensor> {
        if dtype != self.dtype {
            self.expect_unmarked("view")?;
        }
        let (from, to) = (self.dtype.itemsize(), dtype.itemsize());
        if from == to {
            return self.as_dtype(dtype, self.offset, &self.sizes, &self.strides);
        }
        let op = "view";
        if self.rank() == 0 {
            return invalid(
                op,
                format!(
                    "a zero-dim tensor of {} can't be viewed as {dtype}, whose elements are of another size",
                    self.dtype
                ),
            );
        }
        let last = self.rank() - 1;
        if self.strides[last] != 1 {
            return invalid(
                op,
                format!(
                    "the stride of the last axis must be 1 to view {} as {dtype}, got {}",
                    self.dtype, self.strides[last]
                ),
            );
        }
        let (mut sizes, mut strides, mut offset) = (self.sizes, self.strides, self.offset);
        if from > to {
            let ratio = from / to;
            sizes[last] = sizes[last].checked_mul(ratio).ok_or(Error::TooLarge { op, sizes: (&*self.sizes).into() })?;
            strides[..last].iter_mut().for_each(|stride| *stride = stride.wrapping_mul(ratio));
            offset = offset.wrapping_mul(ratio);
        } else {
            let ratio = to / from;
            if sizes[last] % ratio != 0 {
                return invalid(
                    op,
                    format!(
                        "the size of the last axis must be divisible by {ratio} to view {} as {dtype}, got {}",
                        self.dtype, sizes[last]
                    ),
                );
            }
            if offset % ratio != 0 {
                return invalid(
                    op,
                    format!(
                        "the storage offset must be divisible by {ratio} to view {} as {dtype}, got {offset}",
                        self.dtype
                    ),
                );
            }
            if let Some(stride) = strides[..last].iter().find(|stride| **stride % ratio != 0) {
                return invalid(
                    op,
                    format!("strides must be divisible by {ratio} to view {} as {dtype}, got {stride}", self.dtype),
                );
            }
            sizes[last] /= ratio;
            strides[..last].iter_mut().for_each(|stride| *stride /= ratio);
            offset /= ratio;
        }
        self.as_dtype(dtype, offset, &sizes, &strides)
    }

    /// The same bytes as elements of another dtype, which offset, sizes and strides count. Those that are to be bools are looked at.
    fn as_dtype(&self, dtype: DType, offset: usize, sizes: &[usize], strides: &[usize]) -> Result<AnyTensor> {
        let view = self.viewed_as(dtype, offset, sizes, strides);
        if let (true, Buffer::Cpu(buffer)) = (dtype == DType::Bool && self.dtype != dtype, &view.buffer) {
            crate::tensor::expect_bools::<Cpu>("view", buffer, view.first(), sizes, strides)?;
        }
        Ok(view)
    }

    /// Complex elements as pairs of real ones along a new last axis (`torch.view_as_real`).
    ///
    /// # Errors
    /// If the elements are real.
    pub fn view_as_real(&self) -> Result<AnyTensor> {
        if !self.dtype.is_complex() {
            return Err(Error::NotAdmitted {
                op: "view_as_real",
                dtype: self.dtype,
                reason: "it is defined for complex".to_owned(),
            });
        }
        self.expect_unmarked("view_as_real")?;
        let double = |dims: &Dims, last: usize| -> Result<Dims> {
            let mut values = dims.to_vec();
            values.push(last);
            Dims::new("view_as_real", &values)
        };
        let sizes = double(&self.sizes, 2)?;
        let mut strides = double(&self.strides, 1)?;
        let rank = self.rank();
        strides[..rank].iter_mut().for_each(|stride| *stride = stride.wrapping_mul(2));
        Ok(self.viewed_as(self.dtype.to_real(), self.offset.wrapping_mul(2), &sizes, &strides))
    }

    /// Pairs of real elements along the last axis as complex ones (`torch.view_as_complex`).
    ///
    /// # Errors
    /// If the last axis is not a pair side by side, or other strides or the offset are odd.
    pub fn view_as_complex(&self) -> Result<AnyTensor> {
        let op = "view_as_complex";
        let dtype = match self.dtype {
            DType::F16 => DType::C32,
            DType::F32 => DType::C64,
            DType::F64 => DType::C128,
            dtype => {
                let reason = "it is defined for float16, float32 and float64".to_owned();
                return Err(Error::NotAdmitted { op, dtype, reason });
            }
        };
        self.expect_unmarked(op)?;
        let Some((&2, sizes)) = self.sizes.split_last() else {
            return invalid(op, format!("the last axis must have size 2, got a tensor of shape {:?}", &*self.sizes));
        };
        let (&last, strides) = self.strides.split_last().unwrap_or((&1, &[]));
        if last != 1 {
            return invalid(op, format!("the last axis must have stride 1, got {last}"));
        }
        if let Some(stride) = strides.iter().find(|stride| **stride % 2 != 0) {
            return invalid(op, format!("all strides but the last must be divisible by 2, got {stride}"));
        }
        if !self.offset.is_multiple_of(2) {
            return invalid(op, format!("the storage offset must be divisible by 2, got {}", self.offset));
        }
        let strides: Vec<usize> = strides.iter().map(|stride| stride / 2).collect();
        Ok(self.viewed_as(dtype, self.offset / 2, sizes, &strides))
    }

    /// The real part: a view of complex tensors, the tensor itself for real ones (`torch.real`).
    ///
    /// # Errors
    /// None at present.
    pub fn real(&self) -> Result<AnyTensor> {
        if self.dtype.is_complex() { self.part(0) } else { Ok(self.clone()) }
    }

    /// The imaginary part of a complex tensor, as a view (`torch.imag`).
    ///
    /// # Errors
    /// If the elements are real.
    pub fn imag(&self) -> Result<AnyTensor> {
        if !self.dtype.is_complex() {
            return Err(Error::NotAdmitted {
                op: "imag",
                dtype: self.dtype,
                reason: "it is defined for complex".to_owned(),
            });
        }
        self.part(1)
    }
}
