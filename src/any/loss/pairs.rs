//! Losses of each element beside its target: `mse_loss`, `l1_loss`, `huber_loss`, `kl_div` and their kin.
//! Uses `tensor::loss::pairs`, `elementwise::apply`, `device`; used by `loss`.

use crate::any::base::by_width::spread_together;
use crate::any::base::convert::cast;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::{AnyOperand, promoted};
use crate::any::elementwise::apply::{broadcast_to, result_strides, same_device};
use crate::any::{AnyTensor, checked_numel};
use crate::device::erased::{self, FirstOnly, Loop, Operand, Reducing};
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::scalar::KindRank;
use crate::dtype::{Category, DType, Tuned};
use crate::error::{Result, invalid};
use crate::ops::losses::{
    AbsoluteDifference, HingeEmbedding, Huber, KlDivergence, KlDivergenceOfLogs, Losing, LossReduction, Poisson,
    PoissonOfLog, SmoothL1, SoftMargin, SquaredDifference,
};
use crate::ops::reduce::{Mean, Sum};
use crate::tensor::losses::{expect_values, gaussian, poisson_values};
use castiron_macros::operations;

/// A floating dtype that computes.
fn floating(op: &'static str, dtype: DType) -> Result<DType> {
    if dtype.is_shell() || dtype.category() != Category::Floating { Err(refused(op, dtype)) } else { Ok(dtype) }
}

/// The losses by a loop over tensors of the dtype and the same sizes, or what becomes of them. Halves are converted to `f32` on the way, in
/// pieces that stay in the cache: what `of_pairs` of `tensor::loss` does, the types left out.
///
/// # Safety
/// Loop and kernel belong together, and take `f64` for that dtype, else `f32`; the loop gives the same, but `f64` what is summed. The
/// strides leave no gaps.
unsafe fn losses_by(
    op: &'static str,
    call: Loop<3>,
    [x, y]: [&AnyTensor; 2],
    dtype: DType,
    reduction: LossReduction,
    strides: &[usize],
) -> Result<AnyTensor> {
    let computes = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let from = cast(dtype, computes)?;
    let operands = [Operand { view: Some(x.erased()?), cast: from }, Operand { view: Some(y.erased()?), cast: from }];
    let sizes = &x.sizes;
    if reduction == LossReduction::None {
        checked_numel(op, sizes, dtype)?;
        let result = (dtype.itemsize(), cast(computes, dtype)?);
        // SAFETY: the caller's promise.
        let buffer = unsafe { erased::run(call, &operands, result, sizes, strides)? };
        return Ok(AnyTensor::fresh(buffer, dtype, sizes, strides));
    }
    let functions: &dyn Reducing =
        if reduction == LossReduction::Mean { &FirstOnly::<f64, _>::new(Mean) } else { &FirstOnly::<f64, _>::new(Sum) };
    // SAFETY: the caller's promise; the functions are those of `f64`.
    let total = unsafe { erased::run_reduced(call, &operands, functions, sizes)? };
    let total = AnyTensor::fresh(total, DType::F64, &[], &[]);
    if reduction != LossReduction::BatchMean {
        return total.to(dtype);
    }
    total.div(sizes.first().copied().unwrap_or(1) as f64)?.to(dtype)
}

#[operations]
impl AnyTensor {
    /// What becomes of this tensor of losses.
    pub(crate) fn reduced_by(&self, op: &'static str, reduction: LossReduction) -> Result<AnyTensor> {
        match reduction {
            LossReduction::None => Ok(self.clone()),
            LossReduction::Mean => self.mean(None, false, None),
            LossReduction::Sum => self.sum(None, false, None),
            LossReduction::BatchMean => {
                invalid(op, "reduction is none, mean or sum; batchmean is for kl_div".to_owned())
            }
        }
    }

    /// A loss or losses of this dtype, which have these sizes and strides.
    pub(crate) fn loss_of(
        op: &'static str,
        buffer: DynamicBuffer,
        dtype: DType,
        reduction: LossReduction,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<AnyTensor> {
        if reduction != LossReduction::None {
            return Ok(AnyTensor::fresh(buffer, dtype, &[], &[]));
        }
        checked_numel(op, sizes, dtype)?;
        Ok(AnyTensor::fresh(buffer, dtype, sizes, strides))
    }

    /// The dtype of floats that this tensor and a target promote to.
    pub(crate) fn loss_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        floating(op, promoted(op, [self, target].map(|x| (AnyOperand::from(x).kind(), x.dtype)))?)
    }

    /// The same where PyTorch broadcasts both first, so that neither is zero-dim beside the other.
    fn broadcast_dtype(&self, op: &'static str, target: &AnyTensor) -> Result<DType> {
        floating(op, promoted(op, [self, target].map(|x| (KindRank::Dimensioned, x.dtype)))?)
    }

    /// The losses by a formula of two elements, or what becomes of them; the two broadcast and promote.
    fn pair_loss<F: Tuned>(
        &self,
        op: &'static str,
        target: &AnyTensor,
        dtype: DType,
        given: [f64; 2],
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        same_device(op, self, target)?;
        let sizes = broadcast_to(op, &self.sizes, &target.sizes)?;
        checked_numel(op, &sizes, dtype)?;
        let [x, y] = spread_together([&self.to(dtype)?, &target.to(dtype)?], &sizes)?;
        x.expect_memory()?;
        y.expect_memory()?;
        let strides = result_strides(&sizes, &[self.layout(dtype), target.layout(dtype)]);
        let compiled = match (dtype, reduction) {
            (DType::F64, _) => const { erased::two::<Losing<F>, f64, f64, f64>() },
            (_, LossReduction::None) => const { erased::two::<Losing<F>, f32, f32, f32>() },
            _ => const { erased::two::<Losing<F>, f32, f32, f64>() },
        };
        let kernel = Losing::<F>::new(given);
        let call = Loop { compiled, kernel: (&raw const kernel).cast(), is_compute_bound: false, beside_element: None };
        // SAFETY: the loop is that of the kernel, in the dtype that a loss of this dtype is computed in; what is summed is `f64`.
        unsafe { losses_by(op, call, [&x, &y], dtype, reduction, &strides) }
    }

    /// One reduction of those that all losses have.
    pub(crate) fn expect_common(op: &'static str, reduction: LossReduction) -> Result<()> {
        if reduction != LossReduction::BatchMean {
            return Ok(());
        }
        invalid(op, "reduction is none, mean or sum; batchmean is for kl_div".to_owned())
    }

    /// The squares of differences (`torch.nn.functional.mse_loss`), or what becomes of them.
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes promote to no float.
    #[op(nn.functional.mse_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    pub fn mse_loss(&self, target: &AnyTensor, reduction: LossReduction) -> Result<AnyTensor> {
        Self::expect_common("mse_loss", reduction)?;
        let dtype = self.broadcast_dtype("mse_loss", target)?;
        self.pair_loss::<SquaredDifference>("mse_loss", target, dtype, [0.0; 2], reduction)
    }

    /// The absolute values of differences (`torch.nn.functional.l1_loss`), or what becomes of them.
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes promote to neither float nor complex.
    #[op(nn.functional.l1_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = inexact)]
    pub fn l1_loss(&self, target: &AnyTensor, reduction: LossReduction) -> Result<AnyTensor> {
        let op = "l1_loss";
        Self::expect_common(op, reduction)?;
        if let Some(bool) = [self, target].into_iter().find(|x| x.dtype == DType::Bool) {
            return Err(refused(op, bool.dtype));
        }
        if self.dtype.is_complex() || target.dtype.is_complex() {
            let sizes = broadcast_to(op, &self.sizes, &target.sizes)?;
            let (x, y) = (self.expanded_to(&sizes)?, target.expanded_to(&sizes)?);
            return x.sub(y)?.abs()?.reduced_by(op, reduction);
        }
        let dtype = self.broadcast_dtype(op, target)?;
        self.pair_loss::<AbsoluteDifference>(op, target, dtype, [0.0; 2], reduction)
    }

    /// The absolute values of differences, but below `beta` half of their squares divided by it (`torch.nn.functional.smooth_l1_loss`).
    ///
    /// # Errors
    /// If shapes do not broadcast, the dtypes promote to no float, or `beta` is negative.
    #[op(nn.functional.smooth_l1_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean, beta = 1.0), dtypes = float)]
    pub fn smooth_l1_loss(&self, target: &AnyTensor, reduction: LossReduction, beta: f64) -> Result<AnyTensor> {
        let op = "smooth_l1_loss";
        Self::expect_common(op, reduction)?;
        expect_values(op, "beta", beta, 0.0, false)?;
        let dtype = self.broadcast_dtype(op, target)?;
        self.pair_loss::<SmoothL1>(op, target, dtype, [beta, 0.0], reduction)
    }

    /// Half of the squares of differences, but a line beyond `delta` (`torch.nn.functional.huber_loss`).
    ///
    /// # Errors
    /// If shapes do not broadcast, the dtypes promote to no float, or `delta` is not positive.
    #[op(nn.functional.huber_loss(input, target, reduction = LossReduction::Mean, delta = 1.0), dtypes = float)]
    pub fn huber_loss(&self, target: &AnyTensor, reduction: LossReduction, delta: f64) -> Result<AnyTensor> {
        let op = "huber_loss";
        Self::expect_common(op, reduction)?;
        expect_values(op, "delta", delta, 0.0, true)?;
        // The result has the dtype of the predictions.
        let dtype = floating(op, self.dtype)?;
        if target.dtype.is_complex() || (target.dtype.is_shell() && target.dtype.category() != Category::Integral) {
            return Err(refused(op, target.dtype));
        }
        self.pair_loss::<Huber>(op, target, dtype, [delta, 0.0], reduction)
    }

    /// `log(1 + exp(-target * self))` (`torch.nn.functional.soft_margin_loss`).
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes promote to neither float nor complex.
    #[op(nn.functional.soft_margin_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = inexact)]
    pub fn soft_margin_loss(&self, target: &AnyTensor, reduction: LossReduction) -> Result<AnyTensor> {
        let op = "soft_margin_loss";
        Self::expect_common(op, reduction)?;
        if self.dtype.is_complex() || target.dtype.is_complex() {
            return target.neg()?.mul(self)?.exp()?.log1p()?.reduced_by(op, reduction);
        }
        let dtype = self.loss_dtype(op, target)?;
        self.pair_loss::<SoftMargin>(op, target, dtype, [0.0; 2], reduction)
    }

    /// Of distances: themselves where the target is 1, how far they are below `margin` where it is -1
    /// (`torch.nn.functional.hinge_embedding_loss`).
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes promote to no float.
    #[op(nn.functional.hinge_embedding_loss(input, target, margin = 1.0, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    pub fn hinge_embedding_loss(&self, target: &AnyTensor, margin: f64, reduction: LossReduction) -> Result<AnyTensor> {
        let op = "hinge_embedding_loss";
        Self::expect_common(op, reduction)?;
        let dtype = self.loss_dtype(op, target)?;
        self.pair_loss::<HingeEmbedding>(op, target, dtype, [margin, 0.0], reduction)
    }

    /// The divergence of a target from predictions that are logarithms of probabilities; the target may hold logarithms, too
    /// (`torch.nn.functional.kl_div`). [`LossReduction::BatchMean`] divides the sum by the size of the first axis.
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes promote to no float.
    #[op(nn.functional.kl_div(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean, log_target = false), dtypes = float)]
    pub fn kl_div(&self, target: &AnyTensor, reduction: LossReduction, log_target: bool) -> Result<AnyTensor> {
        let op = "kl_div";
        let dtype = self.loss_dtype(op, target)?;
        floating(op, self.dtype)?;
        floating(op, target.dtype)?;
        if log_target {
            self.pair_loss::<KlDivergenceOfLogs>(op, target, dtype, [0.0; 2], reduction)
        } else {
            self.pair_loss::<KlDivergence>(op, target, dtype, [0.0; 2], reduction)
        }
    }

    /// The loss of counts beside rates of a Poisson distribution, or their logarithms if `log_input`
    /// (`torch.nn.functional.poisson_nll_loss`, where `log_input` is true, `full` false and `eps` 1e-8 if not given).
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes are bool or complex.
    #[op(nn.functional.poisson_nll_loss(input, target, log_input = true, full = false, size_average = _, eps = 1e-8, reduce = _, reduction = LossReduction::Mean), dtypes = real)]
    pub fn poisson_nll_loss(
        &self,
        target: &AnyTensor,
        log_input: bool,
        full: bool,
        eps: f64,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "poisson_nll_loss";
        Self::expect_common(op, reduction)?;
        let x = if self.dtype.category() == Category::Integral {
            self.to(crate::dtype::default_dtype())?
        } else {
            self.clone()
        };
        let (values, dtype) = (poisson_values(full, eps), x.loss_dtype(op, target)?);
        if log_input {
            x.pair_loss::<PoissonOfLog>(op, target, dtype, values, reduction)
        } else {
            x.pair_loss::<Poisson>(op, target, dtype, values, reduction)
        }
    }

    /// The loss of a normal distribution with these means and variances (`torch.nn.functional.gaussian_nll_loss`, where `full` is false
    /// and `eps` 1e-6 if not given). Variances have the shape of `self`, or lack the last axis, or it has size 1.
    ///
    /// # Errors
    /// If shapes do not go together, a variance is negative, or dtypes differ or are no floats.
    #[op(nn.functional.gaussian_nll_loss(input, target, var, full = false, eps = 1e-6, reduction = LossReduction::Mean), dtypes = float)]
    pub fn gaussian_nll_loss(
        &self,
        target: &AnyTensor,
        var: &AnyTensor,
        full: bool,
        eps: f64,
        reduction: LossReduction,
    ) -> Result<AnyTensor> {
        let op = "gaussian_nll_loss";
        Self::expect_common(op, reduction)?;
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
        let [x, y, v] = spread_together([&self.to(dtype)?, &target.to(dtype)?, &var], &sizes)?;
        let strides = crate::layout::strides::row_major(&sizes);
        let buffer = dispatch_dtype!(op, dtype, E: Float => {
            gaussian::<E, Dynamic>(op, [x.elements_as()?, y.elements_as()?, v.elements_as()?], full, eps, reduction)
        })?;
        AnyTensor::loss_of(op, buffer, dtype, reduction, &sizes, &strides)
    }
}
