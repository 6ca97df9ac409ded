//! `ctc_loss`. Uses `tensor::loss::ctc`, `loss::pairs`, `device`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::{Bound, Item};
use crate::any::{AnyTensor, Value};
use crate::composite::loss::reduction::expect_common;
use crate::device::{Dynamic, DynamicBuffer};
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::losses::LossReduction;
use crate::tensor::losses::{Sequences, ctc};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The loss of sequences of labels beside logarithms of probabilities of classes at each step, `(T, N, C)` or `(T, C)`
    /// (`torch.nn.functional.ctc_loss`, where `blank` is 0 and `zero_infinity` false if not given). The labels of each sequence stand in a
    /// row of their own, or follow one another in a list. Computed on the host.
    ///
    /// # Errors
    /// If a label or `blank` is out of range, lengths do not fit, or the dtype is neither `float32` nor `float64`.
    pub fn ctc_loss(
        &self,
        targets: &AnyTensor,
        input_lengths: &[i64],
        target_lengths: &[i64],
        blank: i64,
        reduction: LossReduction,
        zero_infinity: bool,
    ) -> Result<AnyTensor> {
        let op = "ctc_loss";
        expect_common(op, reduction)?;
        let (logs, is_batch) = match self.rank() {
            2 => (self.unsqueeze(1)?, false),
            3 => (self.clone(), true),
            rank => return invalid(op, format!("two or three axes are wanted, got {rank}")),
        };
        let Ok(blank) = usize::try_from(blank) else {
            return invalid(op, format!("`blank` must not be negative, got {blank}"));
        };
        let labels = targets.to_ints(op)?;
        let row = (targets.rank() > 1).then(|| targets.sizes[targets.rank() - 1]);
        let sequences = Sequences { labels: Some(&labels), row, input_lengths, target_lengths };
        let buffer: DynamicBuffer = dispatch_dtype!(op, self.dtype, E: [f32, f64] => {
            ctc::<E, Dynamic>(logs.elements_as()?, &sequences, blank, zero_infinity, reduction)
        })?;
        let sizes = if is_batch { vec![logs.sizes[1]] } else { vec![] };
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &sizes, &strides::row_major(&sizes))
    }

    /// Lengths may be tensors.
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
