//! `fill`: one value everywhere, in a new tensor. The in-place form is in `view::any_view_mut`.
//! Uses `elementwise::apply`, `base::by_width`.

use crate::any::AnyTensor;
use crate::any::base::by_width::invalid;
use crate::error::Result;

impl AnyTensor {
    /// Every element the same, in a new tensor (`torch.fill`). The value is a scalar or a zero-dim tensor.
    ///
    /// # Errors
    /// If the value does not fit the dtype, or has axes.
    pub fn fill(&self, value: impl Into<crate::any::AnyOperand>) -> Result<AnyTensor> {
        let value = self.fill_scalar("fill", &value.into())?;
        let mut filled = self.zeros_like_device(&self.sizes, self.dtype)?;
        if !filled.is_meta() {
            filled.copy_from(&value)?;
        }
        Ok(filled)
    }

    /// A value of the dtype as a zero-dim tensor: from a scalar, or from a zero-dim tensor of any dtype.
    pub(crate) fn fill_scalar(&self, op: &'static str, value: &crate::any::AnyOperand) -> Result<AnyTensor> {
        match value {
            crate::any::AnyOperand::Number(value) => self.scalar_on_device(op, *value, self.dtype),
            crate::any::AnyOperand::Array(value) if value.rank() > 0 => {
                invalid(op, format!("a scalar or a zero-dim tensor is wanted, got one of shape {:?}", value.shape()))
            }
            crate::any::AnyOperand::Array(value) if self.is_meta() || value.is_meta() => {
                crate::any::elementwise::apply::same_device(op, self, value)?;
                AnyTensor::meta(&[], self.dtype)
            }
            crate::any::AnyOperand::Array(value) if value.dtype == self.dtype => Ok(value.clone()),
            crate::any::AnyOperand::Array(value) => self.scalar_on_device(op, value.item()?, self.dtype),
        }
    }
}
