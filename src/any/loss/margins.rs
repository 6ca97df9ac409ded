//! Losses by margins between classes: `multi_margin_loss`, `multilabel_margin_loss`, `multilabel_soft_margin_loss`.
//! Uses `tensor::loss::margins`, `loss::pairs`, `device`.

use crate::any::AnyTensor;
use crate::any::base::by_width::{same_dtype, spread_together};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::elementwise::apply::same_device;
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::{DType, Dtype};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::losses::LossReduction;
use crate::shape::expect_broadcast;
use crate::tensor::losses::{
    as_matrix, expect_labels, expect_target, multi_margin, multilabel_margin, multilabel_soft_margin,
};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    fn expect_indices(&self, op: &'static str) -> Result<()> {
        if self.dtype == DType::I64 {
            return Ok(());
        }
        Err(Error::NotAdmitted { op, dtype: self.dtype, reason: "labels are int64".to_owned() })
    }

    /// The loss of labels beside scores of classes: how far the others come within `margin` of the label's, to the power of `p`
    /// (`torch.nn.functional.multi_margin_loss`, where `p` and `margin` are 1 if not given). Computed on the host.
    ///
    /// # Errors
    /// If a label is out of range, `p` is neither 1 nor 2, shapes do not go together, or the dtype is neither `float32` nor `float64`.
    #[op(nn.functional.multi_margin_loss(input, target, p = 1.0, margin = 1.0, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = "float32 and float64")]
    pub fn multi_margin_loss(
        &self,
        target: &AnyTensor,
        p: f64,
        margin: f64,
        weight: Option<&AnyTensor>,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "multi_margin_loss";
        AnyTensor::expect_common(op, reduction)?;
        target.expect_indices(op)?;
        same_device(op, self, target)?;
        let [sizes, _] = as_matrix(op, &self.sizes, &self.strides)?;
        // A number has one class.
        let own = if self.rank() == 0 { &[1][..] } else { self.shape() };
        let one = own.len() == 1 && *target.shape() == [1];
        expect_labels(op, own, if one { &[] } else { target.shape() }, weight.map(AnyTensor::shape))?;
        if let Some(weight) = weight {
            same_dtype(op, self, weight)?;
            same_device(op, self, weight)?;
        }
        let (x, labels) = (self.reshaped(&sizes.map(|size| size as i64))?, target.reshaped(&[sizes[0] as i64])?);
        let buffer: DynamicBuffer = dispatch_dtype!(op, self.dtype, E: [f32, f64] => {
            let weight = weight.map(|weight| weight.elements_as()).transpose()?;
            multi_margin::<E, Dynamic>(op, x.elements_as()?, labels.elements_as()?, weight, [p, margin], reduction)
        })?;
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &target.sizes, &strides::row_major(&target.sizes))
    }

    /// The loss of lists of labels, which end with -1, beside scores of classes (`torch.nn.functional.multilabel_margin_loss`). Computed
    /// on the host.
    ///
    /// # Errors
    /// If a label is out of range, shapes differ, or the dtype is neither `float32` nor `float64`.
    #[op(nn.functional.multilabel_margin_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = "float32 and float64")]
    pub fn multilabel_margin_loss(&self, target: &AnyTensor, reduction: LossReduction) -> Result<AnyTensor> {
        let op = "multilabel_margin_loss";
        AnyTensor::expect_common(op, reduction)?;
        target.expect_indices(op)?;
        same_device(op, self, target)?;
        expect_target(op, &self.sizes, &target.sizes)?;
        let [sizes, _] = as_matrix(op, &self.sizes, &self.strides)?;
        let sizes = sizes.map(|size| size as i64);
        let (x, labels) = (self.reshaped(&sizes)?, target.reshaped(&sizes)?);
        let buffer: DynamicBuffer = dispatch_dtype!(op, self.dtype, E: [f32, f64] => {
            multilabel_margin::<E, Dynamic>(op, x.elements_as()?, labels.elements_as()?, reduction)
        })?;
        let kept = &self.sizes[..self.rank().saturating_sub(1)];
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, kept, &strides::row_major(kept))
    }

    /// The mean over classes, along the last axis, of the losses of yes and no (`torch.nn.functional.multilabel_soft_margin_loss`), times
    /// a weight.
    ///
    /// # Errors
    /// If shapes do not go together, or dtypes differ or are no floats.
    #[op(nn.functional.multilabel_soft_margin_loss(input, target, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    pub fn multilabel_soft_margin_loss(
        &self,
        target: &AnyTensor,
        weight: Option<&AnyTensor>,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "multilabel_soft_margin_loss";
        AnyTensor::expect_common(op, reduction)?;
        expect_target(op, &self.sizes, &target.sizes)?;
        for other in [Some(target), weight].into_iter().flatten() {
            same_dtype(op, self, other)?;
            same_device(op, self, other)?;
            expect_broadcast(op, &other.sizes, &self.sizes)?;
        }
        let [x, y] = spread_together([self, target], &self.sizes)?;
        x.expect_memory()?;
        let weight = weight.map(|weight| spread_together([self, weight], &self.sizes)).transpose()?;
        fn run<E: Dtype>(
            [x, y]: [&AnyTensor; 2],
            weight: Option<&AnyTensor>,
            reduction: LossReduction,
        ) -> Result<DynamicBuffer> {
            let weight = weight.map(|weight| weight.elements_as()).transpose()?;
            multilabel_soft_margin::<E, Dynamic>([x.elements_as()?, y.elements_as()?], weight, reduction)
        }
        let weight = weight.as_ref().map(|[_, weight]| weight);
        let buffer = dispatch_dtype!(op, self.dtype, E: Float => run::<E>([&x, &y], weight, reduction))?;
        let kept = &self.sizes[..self.rank().saturating_sub(1)];
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, kept, &strides::row_major(kept))
    }
}
