//! Losses of distances and angles for operands of different or non-floating dtypes: composed as PyTorch composes them.
//! Source: `aten/src/ATen/native/Loss.cpp`.

use crate::any::base::by_width::{common_sizes, spread_together};
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::{AnyOperand, promoted, same_device};
use crate::any::{AnyTensor, IntoAny};
use crate::composite::loss::reduction::expect_common;
use crate::dtype::{DType, default_dtype};
use crate::error::{Result, invalid};
use crate::ops::losses::LossReduction;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// `margin_ranking_loss` of operands that do not have one floating dtype.
    pub(crate) fn margin_ranking_of_dtypes(
        &self,
        other: &AnyTensor,
        target: &AnyTensor,
        margin: f64,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "margin_ranking_loss";
        self.expect_ranks(op, [other, target])?;
        expect_common(op, reduction)?;
        target.neg()?.mul(self.sub(other)?)?.add(margin)?.clamp_min(0)?.reduced_by(op, reduction)
    }

    fn expect_ranks(&self, op: &'static str, others: [&AnyTensor; 2]) -> Result<()> {
        if others.iter().all(|x| x.rank() == self.rank()) {
            return Ok(());
        }
        invalid(op, "all three tensors must have as many axes".to_owned())
    }

    /// Whether all have one floating dtype.
    pub(crate) fn are_alike(&self, others: [&AnyTensor; 2]) -> bool {
        let is_float = self.dtype.is_floating_point() && !self.dtype.is_shell();
        is_float && others.iter().all(|x| x.dtype == self.dtype)
    }

    /// All three, of the same rank, broadcast to one shape.
    pub(crate) fn of_one_shape(&self, op: &'static str, [y, z]: [&AnyTensor; 2]) -> Result<[AnyTensor; 3]> {
        self.expect_ranks(op, [y, z])?;
        same_device(op, self, y)?;
        same_device(op, self, z)?;
        let spread = spread_together([self, y, z], &common_sizes(op, [self, y, z])?)?;
        spread.iter().try_for_each(AnyTensor::expect_memory)?;
        Ok(spread)
    }

    /// `1 - cos` of vectors along the last axis where the target is 1, and `max(0, cos - margin)` where it is -1
    /// (`torch.nn.functional.cosine_embedding_loss`, where `margin` is 0 if not given).
    ///
    /// # Errors
    /// If the target is neither zero-dim with vectors nor a list with matrices, shapes do not broadcast, or a dtype is complex.
    #[op(nn.functional.cosine_embedding_loss(input1, input2, target, margin = 0.0, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = ordered)]
    pub fn cosine_embedding_loss(
        &self,
        other: &AnyTensor,
        target: &AnyTensor,
        margin: f64,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "cosine_embedding_loss";
        if target.rank() > 1 || self.rank() != target.rank() + 1 || other.rank() != target.rank() + 1 {
            return invalid(op, "a number goes with two vectors, a list with two matrices".to_owned());
        }
        if let Some(complex) = [self, other].into_iter().find(|x| x.dtype.is_complex()) {
            return Err(refused(op, complex.dtype));
        }
        expect_common(op, reduction)?;
        // Integers are computed in `float64`; the losses have the promoted dtype.
        let [a, b] = [self, other].map(|x| (AnyOperand::from(x).kind(), x.dtype));
        let dtype = promoted(op, [a, b])?;
        let dtype = if dtype.is_floating_point() { dtype } else { default_dtype() };
        let is_exact = target.dtype == dtype || !target.dtype.is_floating_point();
        let common = if is_exact && [self, other].iter().all(|x| x.dtype == dtype) { dtype } else { DType::F64 };
        let Some([x, y]) = self.to(common)?.alike_floats(op, &other.to(common)?)? else {
            return Err(refused(op, dtype));
        };
        same_device(op, &x, target)?;
        [&x, &y].into_iter().try_for_each(AnyTensor::expect_memory)?;
        let rows = &x.sizes[..x.rank() - 1];
        let sizes: Vec<i64> = rows.iter().map(|&size| size as i64).collect();
        let target = target.to(common)?.expand(&sizes)?;
        let loss = dispatch_dtype!(op, common, E: Float => {
            let (other, target) = (y.as_erased::<E>()?, target.as_erased()?);
            x.as_erased::<E>()?.cosine_embedding_loss(&other, &target, margin, reduction).map(IntoAny::into_any)
        })?;
        loss.to(dtype)
    }

    /// [`triplet_margin_loss`](Self::triplet_margin_loss) with any distance function
    /// (`torch.nn.functional.triplet_margin_with_distance_loss`, where `margin` is 1 and `swap` false if not given).
    ///
    /// # Errors
    /// As [`triplet_margin_loss`](Self::triplet_margin_loss), and errors of the distance function.
    pub fn triplet_margin_with_distance_loss(
        &self,
        positive: &AnyTensor,
        negative: &AnyTensor,
        distance: impl Fn(&AnyTensor, &AnyTensor) -> Result<AnyTensor>,
        margin: f64,
        swap: bool,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "triplet_margin_with_distance_loss";
        self.by_distance(op, [positive, negative], distance, margin, swap, reduction)
    }

    pub(crate) fn by_distance(
        &self,
        op: &'static str,
        [positive, negative]: [&AnyTensor; 2],
        distance: impl Fn(&AnyTensor, &AnyTensor) -> Result<AnyTensor>,
        margin: f64,
        swap: bool,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        expect_common(op, reduction)?;
        self.expect_ranks(op, [positive, negative])?;
        let near = distance(self, positive)?;
        let mut far = distance(self, negative)?;
        if swap {
            far = far.minimum(distance(positive, negative)?)?;
        }
        near.add(margin)?.sub(far)?.clamp_min(0)?.reduced_by(op, reduction)
    }

    /// By name the distance function is `pairwise_distance`, PyTorch's default.
    #[op(nn.functional.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function = _, margin = 1.0, swap = false, reduction = LossReduction::Mean), dtypes = numeric)]
    fn triplet_margin_with_distance_loss_by_name(
        &self,
        positive: &AnyTensor,
        negative: &AnyTensor,
        margin: f64,
        swap: bool,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let distance = |a: &AnyTensor, b: &AnyTensor| a.pairwise_distance(b, 2.0, 1e-6, false);
        self.triplet_margin_with_distance_loss(positive, negative, distance, margin, swap, reduction)
    }
}
