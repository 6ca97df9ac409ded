//! Losses of yes and no: `binary_cross_entropy`, of probabilities and of logits.
//! Uses `tensor::loss::binary`, `loss::pairs`, `device`.

use crate::any::base::by_width::{same_dtype, spread_together};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::elementwise::apply::same_device;
use crate::any::{AnyTensor, checked_numel};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::strides;
use crate::ops::losses::LossReduction;
use crate::shape::expect_broadcast;
use crate::tensor::losses::{expect_target, of_binary_logits, of_binary_probabilities};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The predictions, their target of the same shape and weights that broadcast to it, all of one dtype.
    fn binary(
        &self,
        op: &'static str,
        target: &AnyTensor,
        weights: [Option<&AnyTensor>; 2],
    ) -> Result<([AnyTensor; 2], [Option<AnyTensor>; 2])> {
        expect_target(op, &self.sizes, &target.sizes)?;
        for other in [Some(target), weights[0], weights[1]].into_iter().flatten() {
            same_device(op, self, other)?;
            same_dtype(op, self, other)?;
            expect_broadcast(op, &other.sizes, &self.sizes)?;
        }
        checked_numel(op, &self.sizes, DType::F64)?;
        let both = spread_together([self, target], &self.sizes)?;
        both[0].expect_memory()?;
        let of = |weight: Option<&AnyTensor>| {
            weight.map(|weight| spread_together([self, weight], &self.sizes).map(|[_, weight]| weight)).transpose()
        };
        Ok((both, [of(weights[0])?, of(weights[1])?]))
    }

    /// The cross entropy of targets beside probabilities of yes (`torch.nn.functional.binary_cross_entropy`), times a weight.
    ///
    /// # Errors
    /// If an element is not between 0 and 1, shapes do not go together, or dtypes differ or are no floats.
    #[op(nn.functional.binary_cross_entropy(input, target, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    pub fn binary_cross_entropy(
        &self,
        target: &AnyTensor,
        weight: Option<&AnyTensor>,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "binary_cross_entropy";
        AnyTensor::expect_common(op, reduction)?;
        let ([x, y], [weight, _]) = self.binary(op, target, [weight, None])?;
        let buffer = dispatch_dtype!(op, self.dtype, E: Float => {
            let weight = weight.as_ref().map(|weight| weight.elements_as()).transpose()?;
            of_binary_probabilities::<E, Dynamic>(op, [x.elements_as()?, y.elements_as()?], weight, reduction)
        })?;
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &self.sizes, &strides::row_major(&self.sizes))
    }

    /// The cross entropy of targets beside logits of yes (`torch.nn.functional.binary_cross_entropy_with_logits`), times a weight; that
    /// part of it that comes from targets of 1 times `pos_weight`.
    ///
    /// # Errors
    /// If shapes do not go together, or dtypes differ or are no floats.
    #[op(nn.functional.binary_cross_entropy_with_logits(input, target, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean, pos_weight = None), dtypes = float)]
    pub fn binary_cross_entropy_with_logits(
        &self,
        target: &AnyTensor,
        weight: Option<&AnyTensor>,
        reduction: LossReduction,
        pos_weight: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let op = "binary_cross_entropy_with_logits";
        AnyTensor::expect_common(op, reduction)?;
        expect_target(op, &self.sizes, &target.sizes)?;
        if target.dtype.is_complex() && self.dtype.is_floating_point() && weight.is_none() && pos_weight.is_none() {
            let losses = target.neg()?.add(1)?.mul(self)?.sub(self.logsigmoid()?)?;
            return losses.to(target.dtype)?.reduced_by(op, reduction);
        }
        if self.dtype != target.dtype && self.dtype.is_floating_point() && target.dtype.is_floating_point() {
            // The result has the dtype of the target.
            let dtype = self.loss_dtype(op, target)?;
            let wide = |x: Option<&AnyTensor>| x.map(|x| x.to(dtype)).transpose();
            let (weight, positive) = (wide(weight)?, wide(pos_weight)?);
            let (x, y) = (self.to(dtype)?, target.to(dtype)?);
            let loss = x.binary_cross_entropy_with_logits(&y, weight.as_ref(), reduction, positive.as_ref())?;
            return loss.to(target.dtype);
        }
        let ([x, y], [weight, positive]) = self.binary(op, target, [weight, pos_weight])?;
        let buffer = dispatch_dtype!(op, self.dtype, E: Float => {
            let weight = weight.as_ref().map(|weight| weight.elements_as()).transpose()?;
            let positive = positive.as_ref().map(|weight| weight.elements_as()).transpose()?;
            of_binary_logits::<E, Dynamic>([x.elements_as()?, y.elements_as()?], weight, positive, reduction)
        })?;
        AnyTensor::loss_of(op, buffer, self.dtype, reduction, &self.sizes, &strides::row_major(&self.sizes))
    }
}
