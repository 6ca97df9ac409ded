//! Losses of distances and angles: `margin_ranking_loss`, `cosine_embedding_loss`, `triplet_margin_loss`; and `pdist`.
//! Floats of one dtype are computed as by `Tensor`; others are composed as PyTorch composes them.
//! Source: `aten/src/ATen/native/Loss.cpp`. Uses `elementwise`, `reduce::normalize`, `tensor::loss::distances`.

use crate::any::AnyTensor;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::promoted;
use crate::any::elementwise::apply::same_device;
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::{DType, default_dtype};
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::losses::LossReduction;
use crate::tensor::losses::{cosine_embedding, margin_ranking, triplet_margin};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// How far two scores are from the order that the target, 1 or -1, says (`torch.nn.functional.margin_ranking_loss`, where `margin` is
    /// 0 if not given).
    ///
    /// # Errors
    /// If shapes do not broadcast or have not as many axes, or the dtypes are bool or complex.
    #[op(nn.functional.margin_ranking_loss(input1, input2, target, margin = 0.0, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = real)]
    pub fn margin_ranking_loss(
        &self,
        other: &AnyTensor,
        target: &AnyTensor,
        margin: f64,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "margin_ranking_loss";
        if self.rank() != other.rank() || self.rank() != target.rank() {
            return invalid(op, "all three tensors must have as many axes".to_owned());
        }
        AnyTensor::expect_common(op, reduction)?;
        if let Some([x, y, target]) = self.alike_floats_of_three(op, [other, target])? {
            let buffer = dispatch_dtype!(op, x.dtype, E: Float => {
                margin_ranking::<E, Dynamic>([x.elements_as()?, y.elements_as()?], target.elements_as()?, margin, reduction)
            })?;
            return Ok(x.losses(buffer, x.shape(), reduction));
        }
        target.neg()?.mul(self.sub(other)?)?.add(margin)?.clamp_min(0)?.reduced_by(op, reduction)
    }

    /// How far cosines of vectors along the last axis are below 1 where the target is 1, above `margin` where it is -1
    /// (`torch.nn.functional.cosine_embedding_loss`, where `margin` is 0 if not given).
    ///
    /// # Errors
    /// If the target is neither zero-dim beside vectors nor a list beside matrices, shapes do not broadcast, or a dtype is complex.
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
        AnyTensor::expect_common(op, reduction)?;
        // Integers are measured in `float64`, and the losses of all are of the promoted dtype.
        let [a, b] = [self, other].map(|x| (crate::any::base::operand::AnyOperand::from(x).kind(), x.dtype));
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
        let buffer = dispatch_dtype!(op, common, E: Float => {
            cosine_embedding::<E, Dynamic>([x.elements_as()?, y.elements_as()?], target.elements_as()?, margin, reduction)
        })?;
        x.losses(buffer, rows, reduction).to(dtype)
    }

    /// Losses as a tensor of their own: all, of these sizes, or one number.
    fn losses(&self, buffer: DynamicBuffer, sizes: &[usize], reduction: LossReduction) -> AnyTensor {
        let sizes = if reduction == LossReduction::None { sizes } else { &[] };
        AnyTensor::fresh(buffer, self.dtype, sizes, &strides::row_major(sizes))
    }

    /// All three, broadcast to one shape, if they hold one floating-point dtype.
    fn alike_floats_of_three(&self, op: &'static str, others: [&AnyTensor; 2]) -> Result<Option<[AnyTensor; 3]>> {
        let Some([x, y]) = self.alike_floats(op, others[0])? else { return Ok(None) };
        let Some([x, z]) = x.alike_floats(op, others[1])? else { return Ok(None) };
        let y = y.expand(&x.sizes.iter().map(|&size| size as i64).collect::<Vec<_>>())?;
        [&x, &y, &z].into_iter().try_for_each(AnyTensor::expect_memory)?;
        Ok(Some([x, y, z]))
    }

    /// How much farther along the last axis vectors are that are to be near than those that are to be far, less a margin
    /// (`torch.nn.functional.triplet_margin_loss`, where `margin` is 1, `p` 2, `eps` 1e-6 and `swap` false if not given).
    ///
    /// # Errors
    /// If shapes do not broadcast or have not as many axes, or the dtypes are bool.
    #[op(nn.functional.triplet_margin_loss(anchor, positive, negative, margin = 1.0, p = 2.0, eps = 1e-6, swap = false, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = numeric)]
    #[allow(clippy::too_many_arguments)]
    pub fn triplet_margin_loss(
        &self,
        positive: &AnyTensor,
        negative: &AnyTensor,
        margin: f64,
        p: f64,
        eps: f64,
        swap: bool,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "triplet_margin_loss";
        if self.rank() == positive.rank()
            && self.rank() == negative.rank()
            && let Some([x, near, far]) = self.alike_floats_of_three(op, [positive, negative])?
        {
            AnyTensor::expect_common(op, reduction)?;
            let buffer = dispatch_dtype!(op, x.dtype, E: Float => {
                let all = [x.elements_as()?, near.elements_as()?, far.elements_as()?];
                triplet_margin::<E, Dynamic>(op, all, [margin, p, eps], swap, reduction)
            })?;
            return Ok(x.losses(buffer, &x.sizes[..x.rank().saturating_sub(1)], reduction));
        }
        let distance = |a: &AnyTensor, b: &AnyTensor| a.pairwise_distance(b, p, eps, false);
        self.by_distance(op, [positive, negative], distance, margin, swap, reduction)
    }

    /// [`triplet_margin_loss`](Self::triplet_margin_loss) by any distance of two tensors
    /// (`torch.nn.functional.triplet_margin_with_distance_loss`, where `margin` is 1 and `swap` false if not given).
    ///
    /// # Errors
    /// As there, and those of the distance.
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

    fn by_distance(
        &self,
        op: &'static str,
        [positive, negative]: [&AnyTensor; 2],
        distance: impl Fn(&AnyTensor, &AnyTensor) -> Result<AnyTensor>,
        margin: f64,
        swap: bool,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        AnyTensor::expect_common(op, reduction)?;
        if self.rank() != positive.rank() || self.rank() != negative.rank() {
            return invalid(op, "all three tensors must have as many axes".to_owned());
        }
        let near = distance(self, positive)?;
        let mut far = distance(self, negative)?;
        if swap {
            far = far.minimum(distance(positive, negative)?)?;
        }
        near.add(margin)?.sub(far)?.clamp_min(0)?.reduced_by(op, reduction)
    }

    /// By name distances are those of `pairwise_distance`, which PyTorch takes where none is given.
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

    /// The `p`-norms of the differences of every two rows of a matrix (`torch.nn.functional.pdist`).
    ///
    /// # Errors
    /// If there are not two axes, `p` is negative or the dtype is no float.
    #[op(nn.functional.pdist(input, p = 2.0), dtypes = float, aliases("pdist"))]
    pub fn pdist(&self, p: f64) -> Result<AnyTensor> {
        let op = "pdist";
        if self.rank() != 2 {
            return invalid(op, format!("a matrix is wanted, got a tensor with {} axes", self.rank()));
        }
        dispatch_dtype!(op, self.dtype, E: Float => {
            self.typed_rank2::<E, Dynamic>()?.try_pdist(p).map(AnyTensor::from)
        })
    }
}
