//! Operands of losses of `AnyTensor`, checked and prepared: promoted to one dtype, moved to one device, with memory for their
//! broadcast shape.

use crate::any::base::by_width::{on_one_device, same_dtype};
use crate::any::base::dispatch::refused;
use crate::any::base::operand::{AnyOperand, broadcast_to, promoted, same_device};
use crate::any::{AnyTensor, checked_numel};
use crate::composite::loss::reduction::{expect_common, expect_target};
use crate::dtype::scalar::KindRank;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid};
use crate::ops::losses::LossReduction;

/// Checks that a dtype is floating and computes.
pub(crate) fn floating(op: &'static str, dtype: DType) -> Result<DType> {
    if dtype.is_shell() || dtype.category() != Category::Floating { Err(refused(op, dtype)) } else { Ok(dtype) }
}

impl AnyTensor {
    /// Applies a reduction to a tensor of losses.
    pub(crate) fn reduced_by(&self, op: &'static str, reduction: LossReduction) -> Result<AnyTensor> {
        expect_common(op, reduction)?;
        match reduction {
            LossReduction::None => Ok(self.clone()),
            LossReduction::Mean => self.mean(None, false, None),
            _ => self.sum(None, false, None),
        }
    }

    /// The floating dtype that a tensor and a target promote to.
    pub(crate) fn loss_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        floating(op, promoted(op, [self, target].map(|x| (AnyOperand::from(x).kind(), x.dtype)))?)
    }

    /// [`loss_dtype`](Self::loss_dtype) where PyTorch broadcasts both first, so that neither counts as zero-dim.
    pub(crate) fn broadcast_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        floating(op, promoted(op, [self, target].map(|x| (KindRank::Dimensioned, x.dtype)))?)
    }

    /// A tensor and a target converted to a floating dtype on one device; fails if memory cannot hold their broadcast shape.
    pub(crate) fn with_target(&self, op: &'static str, target: &AnyTensor, dtype: DType) -> Result<[AnyTensor; 2]> {
        same_device(op, self, target)?;
        let sizes = broadcast_to(op, &self.sizes, &target.sizes)?;
        checked_numel(op, &sizes, dtype)?;
        let both = on_one_device([&self.to(dtype)?, &target.to(dtype)?])?;
        both.iter().try_for_each(|x| x.expanded_to(&sizes)?.expect_memory())?;
        Ok(both)
    }

    fn expect_no_bool(&self, op: &'static str, target: &AnyTensor) -> Result<()> {
        let bool = [self, target].into_iter().find(|x| x.dtype == DType::Bool);
        bool.map_or(Ok(()), |bool| Err(refused(op, bool.dtype)))
    }

    /// The dtype of absolute differences, which bools do not have.
    pub(crate) fn l1_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        self.expect_no_bool(op, target)?;
        self.broadcast_dtype(op, target)
    }

    /// `l1_loss` of complex numbers.
    pub(crate) fn l1_loss_of_complex(&self, target: &AnyTensor, reduction: LossReduction) -> Result<AnyTensor> {
        let op = "l1_loss";
        self.expect_no_bool(op, target)?;
        let sizes = broadcast_to(op, &self.sizes, &target.sizes)?;
        let (x, y) = (self.expanded_to(&sizes)?, target.expanded_to(&sizes)?);
        x.sub(y)?.abs()?.reduced_by(op, reduction)
    }

    /// `soft_margin_loss` of complex numbers.
    pub(crate) fn soft_margin_loss_of_complex(
        &self,
        target: &AnyTensor,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        target.neg()?.mul(self)?.exp()?.log1p()?.reduced_by("soft_margin_loss", reduction)
    }

    /// The dtype of the predictions; the target must not be complex.
    pub(crate) fn huber_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        let dtype = floating(op, self.dtype)?;
        if target.dtype.is_complex() || (target.dtype.is_shell() && target.dtype.category() != Category::Integral) {
            return Err(refused(op, target.dtype));
        }
        Ok(dtype)
    }

    /// The dtype of divergences, which must be floating.
    pub(crate) fn divergence_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        let dtype = self.loss_dtype(op, target)?;
        floating(op, self.dtype)?;
        floating(op, target.dtype)?;
        Ok(dtype)
    }

    /// Rates, which may be integers, and counts.
    pub(crate) fn with_counts(&self, op: &'static str, target: &AnyTensor) -> Result<[AnyTensor; 2]> {
        let is_integral = self.dtype.category() == Category::Integral;
        let rates = if is_integral { self.to(crate::dtype::default_dtype())? } else { self.clone() };
        rates.with_target(op, target, rates.loss_dtype(op, target)?)
    }

    /// Means, a target, and variances, which have the shape of the means, or lack the last axis, or have size 1 there.
    pub(crate) fn with_variances(
        &self,
        op: &'static str,
        target: &AnyTensor,
        var: &AnyTensor,
    ) -> Result<[AnyTensor; 3]> {
        let dtype = self.loss_dtype(op, target)?;
        if self.dtype.category() != Category::Floating || var.dtype != dtype {
            return Err(refused(op, if var.dtype != dtype { var.dtype } else { self.dtype }));
        }
        let own = &self.sizes[..];
        let lacks_last = var.rank() + 1 == self.rank() && var.sizes[..] == own[..own.len() - 1];
        let fits = var.sizes[..] == *own
            || var.rank() == 0
            || (var.rank() == self.rank()
                && var.sizes.last() == Some(&1)
                && var.sizes[..var.rank() - 1] == own[..own.len() - 1]);
        let var = if lacks_last && var.rank() > 0 { var.unsqueeze(-1)? } else { var.clone() };
        if !fits && !lacks_last {
            return invalid(op, format!("variances of shape {:?} do not go with {:?}", var.shape(), self.shape()));
        }
        same_device(op, self, target)?;
        let sizes = broadcast_to(op, &self.sizes, &target.sizes)?;
        checked_numel(op, &sizes, DType::F64)?;
        on_one_device([&self.to(dtype)?, &target.to(dtype)?, &var])
    }

    /// A tensor, a target of its shape and weights, all of one dtype and on one device; fails if memory cannot hold this shape.
    pub(crate) fn with_weights<const N: usize>(
        &self,
        op: &'static str,
        target: &AnyTensor,
        weights: [Option<&AnyTensor>; N],
    ) -> Result<([AnyTensor; 2], [Option<AnyTensor>; N])> {
        expect_target(op, &self.sizes, &target.sizes)?;
        same_dtype(op, self, target)?;
        same_device(op, self, target)?;
        checked_numel(op, &self.sizes, DType::F64)?;
        self.expect_memory()?;
        let [x, y] = on_one_device([self, target])?;
        let weights = x.beside_weights(op, weights)?;
        Ok(([x, y], weights))
    }

    /// Weights, which must have the dtype and device of this tensor.
    fn beside_weights<const N: usize>(
        &self,
        op: &'static str,
        weights: [Option<&AnyTensor>; N],
    ) -> Result<[Option<AnyTensor>; N]> {
        let mut moved = [const { None }; N];
        for (to, weight) in moved.iter_mut().zip(weights).filter_map(|(to, weight)| Some((to, weight?))) {
            same_dtype(op, self, weight)?;
            same_device(op, self, weight)?;
            let [_, weight] = on_one_device([self, weight])?;
            *to = Some(weight);
        }
        Ok(moved)
    }

    /// Scores with labels, which are `i64`, and weights of the scores' dtype.
    pub(crate) fn with_indices<const N: usize>(
        &self,
        op: &'static str,
        target: &AnyTensor,
        weights: [Option<&AnyTensor>; N],
    ) -> Result<([AnyTensor; 2], [Option<AnyTensor>; N])> {
        if target.dtype != DType::I64 {
            let reason = "labels are int64".to_owned();
            return Err(Error::NotAdmitted { op, dtype: target.dtype, reason });
        }
        same_device(op, self, target)?;
        Ok((on_one_device([self, target])?, self.beside_weights(op, weights)?))
    }

    /// The losses of logits with a target of another dtype, which is the dtype of the result.
    pub(crate) fn logits_of_two_dtypes(
        &self,
        target: &AnyTensor,
        [weight, positive]: [Option<&AnyTensor>; 2],
        reduction: LossReduction,
    ) -> Result<Option<AnyTensor>> {
        let op = "binary_cross_entropy_with_logits";
        if self.dtype == target.dtype || !self.dtype.is_floating_point() {
            return Ok(None);
        }
        expect_target(op, &self.sizes, &target.sizes)?;
        if target.dtype.is_complex() && weight.is_none() && positive.is_none() {
            let losses = target.neg()?.add(1)?.mul(self)?.sub(self.logsigmoid()?)?;
            return losses.to(target.dtype)?.reduced_by(op, reduction).map(Some);
        }
        if !target.dtype.is_floating_point() {
            return Ok(None);
        }
        let dtype = self.loss_dtype(op, target)?;
        let wide = |x: Option<&AnyTensor>| x.map(|x| x.to(dtype)).transpose();
        let (weight, positive) = (wide(weight)?, wide(positive)?);
        let (x, y) = (self.to(dtype)?, target.to(dtype)?);
        let loss = x.binary_cross_entropy_with_logits(&y, weight.as_ref(), reduction, positive.as_ref())?;
        loss.to(target.dtype).map(Some)
    }

    /// Two tensors as floats of one dtype, broadcast to one shape.
    pub(crate) fn with_directions(&self, op: &'static str, other: &AnyTensor) -> Result<[AnyTensor; 2]> {
        let dtype = promoted(op, [self, other].map(|x| (AnyOperand::from(x).kind(), x.dtype)))?;
        let Some(both) = self.to(dtype)?.alike_floats(op, &other.to(dtype)?)? else {
            return Err(refused(op, dtype));
        };
        both.iter().try_for_each(AnyTensor::expect_memory)?;
        Ok(both)
    }
}
