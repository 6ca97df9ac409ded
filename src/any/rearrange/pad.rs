//! `pad` with the mode by name.

use crate::any::{AnyTensor, IntoAny};
use crate::composite::rearrange::pad::Mode;
use crate::device::{Backend, Dynamic};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::width::of_width;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid, listed};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Padding before and after axes (`torch.nn.functional.pad`): two amounts for each axis, from the last axis on; negative ones cut off.
    /// `mode` is `"constant"`, filling with the value or zeros, or `"reflect"`, `"replicate"` or `"circular"`, which take elements of the
    /// tensor, along one to three axes after at least one other.
    ///
    /// # Errors
    /// If there are too many amounts, an axis is too small for them, the mode does not go with the dtype or the number of axes, or
    /// the value does not fit.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3]]);
    /// assert_eq!(x.pad(&[1, 2], "reflect", None)?.to_string(), "tensor([[2, 1, 2, 3, 2, 1]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.pad(input, pad, mode = "constant", value = None), dtypes = "all dtypes; reflect and replicate: all computing dtypes but bool")]
    pub fn pad(&self, amounts: &[i64], mode: &str, value: Option<ScalarValue>) -> Result<AnyTensor> {
        let op = "pad";
        let count = amounts.len() / 2;
        if !amounts.len().is_multiple_of(2) || count > self.rank() {
            let reason = format!("{amounts:?} are no pairs of amounts for a tensor with {} axes", self.rank());
            return invalid(op, reason);
        }
        let constant = mode == "constant";
        if !constant {
            if value.is_some_and(|value| value.real_part() != 0.0) {
                return invalid(op, format!("the mode {mode:?} takes no value"));
            }
            if !(1..=3).contains(&count) || !(count + 1..=count + 2).contains(&self.rank()) {
                let reason = format!(
                    "the mode {mode:?} pads the last one, two or three axes of tensors with one or two more, got {amounts:?} \
                     for a tensor with {} axes",
                    self.rank()
                );
                return invalid(op, reason);
            }
            if mode != "circular" && (self.dtype.is_shell() || self.dtype.category() == Category::Boolean) {
                let reason = format!("the mode {mode:?} does not admit it");
                return Err(Error::NotAdmitted { op, dtype: self.dtype, reason });
            }
            let batched = usize::from(self.rank() == count + 2);
            if mode != "circular" && self.sizes[batched..].contains(&0) {
                return invalid(op, format!("{mode:?} takes elements, of which shape {:?} has none", self.shape()));
            }
        }
        let fill = match value {
            Some(value) if constant => Some(self.fill_of(op, value)?),
            // PyTorch's default is the float zero, which this dtype cannot represent.
            None if constant && self.dtype == DType::F8E8M0FNU => Some(self.fill_of(op, ScalarValue::Float(0.0))?),
            _ => None,
        };
        let mode = match mode {
            "constant" => Mode::Constant,
            "reflect" => Mode::Reflect,
            "replicate" => Mode::Replicate,
            "circular" => Mode::Circular,
            other => return invalid(op, format!("there is no mode {other:?}")),
        };
        let amounts = listed(amounts.iter().map(|&amount| amount as isize))?;
        let padded = of_width!(self.dtype.itemsize(), W => {
            let fill = fill.map_or(Ok(W::default()), |fill| Dynamic::peek(fill.data_as::<W>(op)?))?;
            self.as_erased::<W>()?.pad(&amounts, mode, fill).map(IntoAny::into_any)
        })?;
        Ok(padded.relabelled(self.dtype))
    }

    #[op(constant_pad_nd(input, pad, value = None))]
    fn constant_pad_by_name(&self, amounts: &[i64], value: Option<ScalarValue>) -> Result<AnyTensor> {
        self.pad(amounts, "constant", value)
    }

    /// A scalar of the dtype, on the host.
    fn fill_of(&self, op: &'static str, value: ScalarValue) -> Result<AnyTensor> {
        AnyTensor::scalar_of(op, value, self.dtype)
    }
}
