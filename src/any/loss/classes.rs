//! Checks of the operands of `cross_entropy` and `nll_loss` of `AnyTensor`.

use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::loss::operands::floating;
use crate::any::{AnyTensor, IntoAny};
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::ops::losses::LossReduction;

impl AnyTensor {
    /// Scores as floats, labels as `i64`, and the weights of classes.
    pub(crate) fn with_labels(
        &self,
        op: &'static str,
        labels: &AnyTensor,
        weight: Option<&AnyTensor>,
    ) -> Result<([AnyTensor; 2], [Option<AnyTensor>; 1])> {
        floating(op, self.dtype)?;
        if !matches!(labels.dtype, DType::I64 | DType::U8) {
            let reason = "labels are int64 or uint8".to_owned();
            return Err(Error::NotAdmitted { op, dtype: labels.dtype, reason });
        }
        self.with_indices(op, &labels.to(DType::I64)?, [weight])
    }

    /// `cross_entropy` with class probabilities, which have the shape of the scores.
    pub(crate) fn cross_entropy_of_probabilities(
        &self,
        target: &AnyTensor,
        weight: Option<&AnyTensor>,
        ignore_index: i64,
        reduction: LossReduction,
        smoothing: f64,
    ) -> Result<AnyTensor> {
        let op = "cross_entropy";
        if self.dtype != target.dtype {
            let dtype = self.loss_dtype(op, target)?;
            if !self.dtype.is_floating_point() || !target.dtype.is_floating_point() {
                return Err(refused(op, target.dtype));
            }
            let weight = weight.map(|weight| weight.to(dtype)).transpose()?;
            let (scores, target) = (self.to(dtype)?, target.to(dtype)?);
            return scores.cross_entropy(&target, weight.as_ref(), ignore_index, reduction, smoothing);
        }
        if ignore_index >= 0 {
            return invalid(op, "`ignore_index` is for labels, not for probabilities".to_owned());
        }
        let ([x, target], [weight]) = self.with_weights(op, target, [weight])?;
        dispatch_dtype!(op, self.dtype, E: Float => {
            let weight = weight.as_ref().map(AnyTensor::as_erased::<E>).transpose()?;
            let (x, target) = (x.as_erased::<E>()?, target.as_erased()?);
            x.cross_entropy_probabilities(&target, weight.as_ref(), smoothing, reduction).map(IntoAny::into_any)
        })
    }
}
