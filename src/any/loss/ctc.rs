//! `ctc_loss` by name, and checks of its operands.

use crate::any::call::{Bound, Item};
use crate::any::{AnyTensor, Value};
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::ops::losses::LossReduction;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Log-probabilities, labels of any integer dtype, and the blank class.
    pub(crate) fn with_sequences(
        &self,
        op: &'static str,
        targets: &AnyTensor,
        blank: i64,
    ) -> Result<([AnyTensor; 2], usize)> {
        let Ok(blank) = usize::try_from(blank) else {
            return invalid(op, format!("`blank` must not be negative, got {blank}"));
        };
        Ok(([self.clone(), targets.to(DType::I64)?], blank))
    }

    /// By name, lengths may be tensors.
    #[op(nn.functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity), dtypes = "float32 and float64", needs_elements)]
    fn ctc_loss_by_name(args: &Bound<'_>) -> Result<Value> {
        let lengths = |name: &str| match args.value(name)? {
            Value::Array(tensor) => tensor.to_ints("ctc_loss"),
            Value::List(list) => list.iter().map(|value| i64::of(args, name, value)).collect(),
            one => i64::of(args, name, one).map(|length| vec![length]),
        };
        let reduction = args.read_or("reduction", || LossReduction::Mean)?;
        let (blank, zero) = (args.read_or("blank", || 0)?, args.read_or("zero_infinity", || false)?);
        let (inputs, targets) = (lengths("input_lengths")?, lengths("target_lengths")?);
        let loss =
            args.tensor("log_probs")?.ctc_loss(args.tensor("targets")?, &inputs, &targets, blank, reduction, zero)?;
        Ok(loss.into())
    }
}
