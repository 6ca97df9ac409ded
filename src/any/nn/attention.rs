//! What `AnyTensor` asks of the operands of `scaled_dot_product_attention`.

use crate::any::AnyTensor;
use crate::any::base::operand::same_device;
use crate::device::DynamicBuffer;
use crate::dtype::{DType, Dtype};
use crate::error::{Error, Result, invalid};
use crate::ops::arguments::Mask;

impl AnyTensor {
    /// Checks the dtypes and devices of keys, values and a mask, and that there is no dropout.
    pub(crate) fn expect_attended(
        &self,
        others: [&AnyTensor; 2],
        mask: Option<&AnyTensor>,
        dropout: f64,
    ) -> Result<()> {
        let op = "scaled_dot_product_attention";
        self.expect_one_dtype(op, others.map(Some))?;
        if dropout != 0.0 {
            return invalid(
                op,
                format!("dropout of {dropout}: use `dropout` of the result of `softmax`, which takes a generator"),
            );
        }
        let Some(mask) = mask else { return Ok(()) };
        same_device(op, self, mask)?;
        if mask.dtype == DType::Bool || mask.dtype == self.dtype {
            return Ok(());
        }
        let reason = format!("a mask is bool or {}", self.dtype);
        Err(Error::NotAdmitted { op, dtype: mask.dtype, reason })
    }

    /// A mask of bools, or one that is added to scores of dtype `E`.
    pub(crate) fn as_mask<E: Dtype>(&self) -> Result<Mask<'_, DynamicBuffer, E>> {
        Ok(match self.dtype {
            DType::Bool => Mask::Seen(self.elements_as()?),
            _ => Mask::Added(self.elements_as()?),
        })
    }
}
