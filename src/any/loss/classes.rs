//! Losses of scores of classes: `cross_entropy` and `nll_loss`. Uses `tensor::loss::classes`, `loss::pairs`, `device`.

use crate::any::AnyTensor;
use crate::any::base::by_width::same_dtype;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::elementwise::apply::same_device;
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::ops::losses::LossReduction;
use crate::tensor::losses::{Labelled, expect_labels, of_class_probabilities};
use castiron_macros::operations;

/// Scores as `(N, C, L)`.
fn cube(sizes: &[usize]) -> [i64; 3] {
    match *sizes {
        [c] => [1, c as i64, 1],
        [n, c, ref rest @ ..] => [n as i64, c as i64, rest.iter().product::<usize>() as i64],
        [] => [1; 3],
    }
}

#[operations]
impl AnyTensor {
    /// Scores, their labels and the weight of classes, checked: the scores as `(N, C, L)`, the labels as `(N, L)`.
    fn labelled(
        &self,
        op: &'static str,
        labels: &AnyTensor,
        weight: Option<&AnyTensor>,
    ) -> Result<(AnyTensor, AnyTensor)> {
        if self.dtype.is_shell() || self.dtype.category() != Category::Floating {
            return Err(refused(op, self.dtype));
        }
        if self.rank() == 0 {
            return invalid(op, "scores have an axis of classes, but are zero-dim".to_owned());
        }
        if !matches!(labels.dtype, DType::I64 | DType::U8) {
            let reason = "labels are int64 or uint8".to_owned();
            return Err(Error::NotAdmitted { op, dtype: labels.dtype, reason });
        }
        same_device(op, self, labels)?;
        if let Some(weight) = weight {
            same_dtype(op, self, weight)?;
            same_device(op, self, weight)?;
        }
        // A list of scores may have its label in a list of one.
        let one = self.rank() == 1 && *labels.shape() == [1];
        let of_labels = if one { &[][..] } else { labels.shape() };
        expect_labels(op, &self.sizes, of_labels, weight.map(AnyTensor::shape))?;
        let [n, c, l] = cube(&self.sizes);
        Ok((self.reshaped(&[n, c, l])?, labels.to(DType::I64)?.reshaped(&[n, l])?))
    }

    /// The loss of labels beside logarithms of probabilities, times the weight of each label's class
    /// (`torch.nn.functional.nll_loss`, where `ignore_index` is -100 if not given). Labels equal to it do not count.
    ///
    /// # Errors
    /// If a label is out of range, shapes do not go together, or the dtype is no float.
    #[op(nn.functional.nll_loss(input, target, weight = None, size_average = _, ignore_index = -100, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    pub fn nll_loss(
        &self,
        target: &AnyTensor,
        weight: Option<&AnyTensor>,
        ignore_index: i64,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "nll_loss";
        AnyTensor::expect_common(op, reduction)?;
        let (scores, labels) = self.labelled(op, target, weight)?;
        let buffer: DynamicBuffer = dispatch_dtype!(op, self.dtype, E: Float => {
            let weight = weight.map(|weight| weight.elements_as()).transpose()?;
            let labelled = Labelled::<'_, Dynamic, E> { op, labels: labels.elements_as()?, weight, ignored: ignore_index };
            labelled.nll(scores.elements_as()?, reduction)
        })?;
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &target.sizes, &strides::row_major(&target.sizes))
    }

    /// The cross entropy of labels beside scores of classes, or of probabilities of the same shape as the scores
    /// (`torch.nn.functional.cross_entropy`, where `ignore_index` is -100 and `label_smoothing` 0 if not given).
    ///
    /// # Errors
    /// If a label is out of range, shapes do not go together, `label_smoothing` is not between 0 and 1, or the dtype is no float.
    #[op(nn.functional.cross_entropy(input, target, weight = None, size_average = _, ignore_index = -100, reduce = _, reduction = LossReduction::Mean, label_smoothing = 0.0), dtypes = float)]
    pub fn cross_entropy(
        &self,
        target: &AnyTensor,
        weight: Option<&AnyTensor>,
        ignore_index: i64,
        reduction: LossReduction,
        label_smoothing: f64,
    ) -> Result<AnyTensor> {
        let op = "cross_entropy";
        AnyTensor::expect_common(op, reduction)?;
        if self.sizes == target.sizes && self.rank() > 0 {
            return self.cross_entropy_of_probabilities(target, weight, ignore_index, reduction, label_smoothing);
        }
        let (scores, labels) = self.labelled(op, target, weight)?;
        let buffer: DynamicBuffer = dispatch_dtype!(op, self.dtype, E: Float => {
            let weight = weight.map(|weight| weight.elements_as()).transpose()?;
            let labelled = Labelled::<'_, Dynamic, E> { op, labels: labels.elements_as()?, weight, ignored: ignore_index };
            labelled.cross_entropy(scores.elements_as()?, label_smoothing, reduction)
        })?;
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &target.sizes, &strides::row_major(&target.sizes))
    }

    fn cross_entropy_of_probabilities(
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
        same_device(op, self, target)?;
        if ignore_index >= 0 {
            return invalid(op, "`ignore_index` is for labels, not for probabilities".to_owned());
        }
        let mut kept = self.shape().to_vec();
        kept.remove(self.rank().min(2) - 1);
        expect_labels(op, &self.sizes, &kept, weight.map(AnyTensor::shape))?;
        if let Some(weight) = weight {
            same_dtype(op, self, weight)?;
            same_device(op, self, weight)?;
        }
        let sizes = cube(&self.sizes);
        let (scores, target) = (self.reshaped(&sizes)?, target.reshaped(&sizes)?);
        let buffer: DynamicBuffer = dispatch_dtype!(op, self.dtype, E: Float => {
            let weight = weight.map(|weight| weight.elements_as()).transpose()?;
            let both = [scores.elements_as()?, target.elements_as()?];
            of_class_probabilities::<E, Dynamic>(op, both, weight, smoothing, reduction)
        })?;
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &kept, &strides::row_major(&kept))
    }
}
