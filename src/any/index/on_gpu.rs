//! Positions computed on a GPU by its own operations; the host computes them in lists, element by element.

use crate::any::{AnyTensor, Dims, stack};
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::Result;

impl AnyTensor {
    /// Whether the elements are on a GPU.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.has_data() && self.device() != AnyDevice::CPU
    }

    /// From row-major positions to indices along each axis: a row for each position.
    pub(crate) fn unravelled(&self, sizes: &[usize]) -> Result<AnyTensor> {
        if sizes.is_empty() {
            return self.zeros_like_device(&[self.numel(), 0], DType::I64);
        }
        let (mut left, mut columns) = (self.clone(), Vec::with_capacity(sizes.len()));
        for (axis, &size) in sizes.iter().enumerate().rev() {
            // An axis of size 0 has no positions.
            let size = size.max(1);
            columns.push(if axis == 0 { left.clone() } else { left.remainder(size)? });
            if axis > 0 {
                left = left.floor_divide(size)?;
            }
        }
        columns.reverse();
        stack(&columns, 1)
    }
}

/// The row-major positions of index tensors along axes of the given sizes; `None` if an index is out of range, for which the host makes the
/// error.
pub(crate) fn positions(
    device: AnyDevice,
    indices: &[(usize, AnyTensor)],
    own: &[usize],
    sizes: &Dims,
) -> Result<Option<AnyTensor>> {
    let (mut places, mut outside) = (None::<AnyTensor>, None::<AnyTensor>);
    for ((_, index), &size) in indices.iter().zip(own) {
        if size == 0 {
            return Ok(None);
        }
        let index = index.to(DType::I64)?.to_device(device)?;
        let bad = index.lt(-(size as i64))?.logical_or(index.ge(size)?)?.any(None, false)?;
        outside = Some(match outside {
            None => bad,
            Some(outside) => outside.logical_or(&bad)?,
        });
        // In range, the remainder makes negative indices count from the start.
        let index = index.remainder(size)?;
        places = Some(match places {
            None => index,
            Some(places) => places.mul(size)?.add(&index)?,
        });
    }
    match (places, outside) {
        (Some(places), Some(outside)) if outside.item()? == ScalarValue::Bool(false) => {
            places.expanded_to(sizes)?.contiguous().map(Some)
        }
        _ => Ok(None),
    }
}
