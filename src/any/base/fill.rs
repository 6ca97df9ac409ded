//! `fill`: one value everywhere, in a new tensor. The in-place form is in `view::any_view_mut`.

use crate::any::{AnyOperand, AnyTensor};
use crate::device::AnyDevice;
use crate::error::{Result, invalid};
use crate::layout::strides;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Every element the same, in a new tensor (`torch.fill`). The value is a scalar or a zero-dim tensor.
    ///
    /// # Errors
    /// If the value does not fit the dtype, or has axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3]);
    /// assert_eq!(x.fill(7)?.to_string(), "tensor([7, 7, 7])");
    /// assert!(x.fill(1e300).is_err()); // does not fit
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(fill(input, value), in_place)]
    pub fn fill(&self, value: impl Into<AnyOperand>) -> Result<AnyTensor> {
        let value = self.fill_scalar("fill", &value.into())?;
        if value.has_data() && value.device() == AnyDevice::CPU && self.device() == AnyDevice::CPU {
            // Written once, not zeroed before.
            return value.expanded_to(&self.sizes)?.copied(&strides::row_major(&self.sizes));
        }
        let mut filled = self.zeros_like_device(&self.sizes, self.dtype)?;
        filled.copy_from(&value)?;
        Ok(filled)
    }

    /// A value of the dtype as a zero-dim tensor: from a scalar, or from a zero-dim tensor of any dtype.
    pub(crate) fn fill_scalar(&self, op: &'static str, value: &AnyOperand) -> Result<AnyTensor> {
        match value {
            AnyOperand::Number(value) => self.scalar_on_device(op, *value, self.dtype),
            AnyOperand::Array(value) if value.rank() > 0 => {
                invalid(op, format!("a scalar or a zero-dim tensor is wanted, got one of shape {:?}", value.shape()))
            }
            AnyOperand::Array(value) if !self.has_data() || !value.has_data() => {
                crate::any::base::operand::same_device(op, self, value)?;
                AnyTensor::meta(&[], self.dtype)
            }
            AnyOperand::Array(value) if value.dtype == self.dtype => Ok(value.clone()),
            AnyOperand::Array(value) if value.is_recorded() => value.to(self.dtype),
            AnyOperand::Array(value) => self.scalar_on_device(op, value.item()?, self.dtype),
        }
    }
}
