//! Losses of each element and its target: `mse_loss`, `l1_loss`, `huber_loss`, `kl_div` and others. They take one pass, and sums and means
//! need no memory for the losses of single elements.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::losses::{
    AbsoluteDifference, Gaussian, HingeEmbedding, Huber, KlDivergence, KlDivergenceOfLogs, Losing, LossReduction,
    Negative, Poisson, PoissonOfLog, SmoothL1, SoftMargin, SquaredDifference,
};
use crate::ops::reduce::AnyAll;
use crate::shape::{Broadcast, Shape, TargetOf, WrittenTo, broadcasts_to};
use crate::tensor::{DivergenceReduction, Reduction, SameDevice, SameDtype, Tensor};
use castiron_macros::composites;

/// Checks that a value of a loss is allowed.
fn expect_values(op: &'static str, name: &str, value: f64, least: f64, is_open: bool) -> Result<()> {
    if value > least || (!is_open && value == least) {
        return Ok(());
    }
    let bound = if is_open { "greater than" } else { "at least" };
    invalid(op, format!("`{name}` must be {bound} {least}, got {value}"))
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Squares of differences.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.mse_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    #[any([self, target] = self.with_target("mse_loss", target, self.broadcast_dtype("mse_loss", target)?)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::mse_loss> + SameDtypeFor<F, ops::losses::mse_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0, -4.0]; let y = tensor![1.0, 0.0, 0.0]; x.mse_loss(&y, Unreduced), x.mse_loss(&y, LossReduction::None), tensor![0.0, 4.0, 16.0])]
    pub(crate) fn mse_loss(&self, target: &Erased<'_, E, D>, reduction: LossReduction) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.losses("mse_loss", Losing::<SquaredDifference>::new([0.0; 2]), target, reduction)
    }

    /// Absolute values of differences.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.l1_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = inexact, over = float)]
    #[any(if self.dtype().is_complex() || target.dtype().is_complex() { return self.l1_loss_of_complex(target, reduction); }, [self, target] = self.with_target("l1_loss", target, self.l1_dtype("l1_loss", target)?)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::l1_loss> + SameDtypeFor<F, ops::losses::l1_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0, -4.0]; let y = tensor![1.0, 0.0, 0.0]; x.l1_loss(&y, Mean), x.l1_loss(&y, LossReduction::Mean), Tensor::scalar(2.0))]
    pub(crate) fn l1_loss(&self, target: &Erased<'_, E, D>, reduction: LossReduction) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.losses("l1_loss", Losing::<AbsoluteDifference>::new([0.0; 2]), target, reduction)
    }

    /// Absolute values of differences, but below `beta` half of their squares divided by it. In PyTorch `beta` is 1 if not given.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match or `beta` is negative.
    #[op(nn.functional.smooth_l1_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean, beta = 1.0), dtypes = float)]
    #[any([self, target] = self.with_target("smooth_l1_loss", target, self.broadcast_dtype("smooth_l1_loss", target)?)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, beta: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::smooth_l1_loss> + SameDtypeFor<F, ops::losses::smooth_l1_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0, -4.0]; let y = tensor![1.0, 0.0, 0.0]; x.smooth_l1_loss(&y, 4.0, Unreduced), x.smooth_l1_loss(&y, LossReduction::None, 4.0), tensor![0.0, 0.5, 2.0])]
    pub(crate) fn smooth_l1_loss(
        &self,
        target: &Erased<'_, E, D>,
        reduction: LossReduction,
        beta: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        expect_values("smooth_l1_loss", "beta", beta, 0.0, false)?;
        self.losses("smooth_l1_loss", Losing::<SmoothL1>::new([beta, 0.0]), target, reduction)
    }

    /// Half of the squares of differences, but linear beyond `delta`, with the slope that there is there. In PyTorch `delta` is 1 if not
    /// given.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// The result has the dtype of the predictions.
    ///
    /// # Errors
    /// If shapes do not match or `delta` is not positive.
    #[op(nn.functional.huber_loss(input, target, reduction = LossReduction::Mean, delta = 1.0), dtypes = float)]
    #[any([self, target] = self.with_target("huber_loss", target, self.huber_dtype("huber_loss", target)?)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, delta: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::huber_loss> + SameDtypeFor<F, ops::losses::huber_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0, -4.0]; let y = tensor![1.0, 0.0, 0.0]; x.huber_loss(&y, 2.0, Unreduced), x.huber_loss(&y, LossReduction::None, 2.0), tensor![0.0, 2.0, 6.0])]
    pub(crate) fn huber_loss(
        &self,
        target: &Erased<'_, E, D>,
        reduction: LossReduction,
        delta: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        expect_values("huber_loss", "delta", delta, 0.0, true)?;
        self.losses("huber_loss", Losing::<Huber>::new([delta, 0.0]), target, reduction)
    }

    /// `log(1 + exp(-target * x))`, for targets that are 1 or -1.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.soft_margin_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = inexact, over = float)]
    #[any(if self.dtype().is_complex() || target.dtype().is_complex() { return self.soft_margin_loss_of_complex(target, reduction); }, [self, target] = self.with_target("soft_margin_loss", target, self.loss_dtype("soft_margin_loss", target)?)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::soft_margin_loss> + SameDtypeFor<F, ops::losses::soft_margin_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![0.0]; let y = tensor![1.0]; x.soft_margin_loss(&y, Sum), x.soft_margin_loss(&y, LossReduction::Sum), Tensor::scalar(2.0_f32.ln()))]
    pub(crate) fn soft_margin_loss(&self, target: &Erased<'_, E, D>, reduction: LossReduction) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.losses("soft_margin_loss", Losing::<SoftMargin>::new([0.0; 2]), target, reduction)
    }

    /// The hinge embedding loss of distances: `x` where the target is 1, `max(0, margin - x)` where it is -1. In PyTorch `margin` is 1 if
    /// not given.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.hinge_embedding_loss(input, target, margin = 1.0, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    #[any([self, target] = self.with_target("hinge_embedding_loss", target, self.loss_dtype("hinge_embedding_loss", target)?)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, margin: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::hinge_embedding_loss> + SameDtypeFor<F, ops::losses::hinge_embedding_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0, -4.0]; let y = tensor![1.0, -1.0, -1.0]; x.hinge_embedding_loss(&y, 3.0, Unreduced), x.hinge_embedding_loss(&y, 3.0, LossReduction::None), tensor![1.0, 1.0, 7.0])]
    pub(crate) fn hinge_embedding_loss(
        &self,
        target: &Erased<'_, E, D>,
        margin: f64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.losses("hinge_embedding_loss", Losing::<HingeEmbedding>::new([margin, 0.0]), target, reduction)
    }

    /// The Kullback-Leibler divergence of a target from predictions that are log-probabilities: `target * (log(target) - x)`, or
    /// `exp(target) * (target - x)` if the target has log-probabilities, too (`log_target`). `BatchMean` is the mean over the first axis of
    /// the divergences themselves.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.kl_div(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean, log_target = false), dtypes = float)]
    #[any([self, target] = self.with_target("kl_div", target, self.divergence_dtype("kl_div", target)?)?)]
    #[typed(<F: Dtype, T, R: DivergenceReduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, log_target: bool, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::kl_div> + SameDtypeFor<F, ops::losses::kl_div>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![[-2.0, 0.0]]; let y = tensor![[1.0, 0.0]]; x.kl_div(&y, false, Unreduced), x.kl_div(&y, LossReduction::None, false), tensor![[2.0, 0.0]])]
    #[example(let x = tensor![[-2.0, 0.0]]; let y = tensor![[1.0, 0.0]]; x.kl_div(&y, false, BatchMean), x.kl_div(&y, LossReduction::BatchMean, false), Tensor::scalar(2.0))]
    pub(crate) fn kl_div(
        &self,
        target: &Erased<'_, E, D>,
        reduction: LossReduction,
        log_target: bool,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "kl_div";
        let (logs, shares) = (Losing::<KlDivergenceOfLogs>::new([0.0; 2]), Losing::<KlDivergence>::new([0.0; 2]));
        match (log_target, reduction) {
            (true, LossReduction::BatchMean) => self.summed(op, logs, target, reduction),
            (true, _) => self.losses(op, logs, target, reduction),
            (false, LossReduction::BatchMean) => self.summed(op, shares, target, reduction),
            (false, _) => self.losses(op, shares, target, reduction),
        }
    }

    /// The negative log-likelihood of counts in a Poisson distribution: `exp(x) - target * x` if predictions are logarithms of the rates
    /// (`log_input`), else `x - target * log(x + eps)`. `full` adds an approximation of `log(target!)` where targets are above 1. In
    /// PyTorch `log_input` is true, `full` false and `eps` 1e-8 if not given.
    ///
    /// The target has the shape and dtype of the predictions; those of an `AnyTensor` broadcast and promote. A mean or a sum is zero-dim.
    /// 16-bit floats are computed in `f32`, and sums in `f64`.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.poisson_nll_loss(input, target, log_input = true, full = false, size_average = _, eps = 1e-8, reduce = _, reduction = LossReduction::Mean), dtypes = real, over = float)]
    #[any([self, target] = self.with_counts("poisson_nll_loss", target)?)]
    #[typed(<F: Dtype, T, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, log_input: bool, full: bool, eps: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::poisson_nll_loss> + SameDtypeFor<F, ops::losses::poisson_nll_loss>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![0.0, 0.0]; let y = tensor![3.0, 5.0]; x.poisson_nll_loss(&y, true, false, 1e-8, Sum), x.poisson_nll_loss(&y, true, false, 1e-8, LossReduction::Sum), Tensor::scalar(2.0))]
    pub(crate) fn poisson_nll_loss(
        &self,
        target: &Erased<'_, E, D>,
        log_input: bool,
        full: bool,
        eps: f64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (op, values) = ("poisson_nll_loss", [eps, f64::from(u8::from(full))]);
        if log_input {
            return self.losses(op, Losing::<PoissonOfLog>::new(values), target, reduction);
        }
        self.losses(op, Losing::<Poisson>::new(values), target, reduction)
    }

    /// The negative log-likelihood of a normal distribution with these means and variances: `(log(var) + (x - target)² / var) / 2`, where
    /// variances are at least `eps`. `full` adds `log(2π) / 2`. In PyTorch `full` is false and `eps` 1e-6 if not given.
    ///
    /// The target has the shape of the predictions; that of an `AnyTensor` broadcasts and promotes. Variances broadcast to it; those of an
    /// `AnyTensor` have the shape of the predictions, or lack the last axis, or have size 1 there.
    ///
    /// # Errors
    /// If a variance is negative or shapes do not match.
    #[op(nn.functional.gaussian_nll_loss(input, target, var, full = false, eps = 1e-6, reduction = LossReduction::Mean), dtypes = float)]
    #[any([self, target, var] = self.with_variances("gaussian_nll_loss", target, var)?)]
    #[typed(<T, V, R: Reduction<S>, F: Element, G: Element, X: Device, Y: Device>(&self, target: &Tensor<F, T, X>, variance: &Tensor<G, V, Y>, full: bool, eps: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::gaussian_nll_loss>,
            T: Shape + TargetOf<S>,
            S: Broadcast<V>,
            <S as Broadcast<V>>::Output: WrittenTo<S>,
            T: SameDevice<D, X> + SameDtype<E, F, ops::losses::gaussian_nll_loss>,
            V: Shape + SameDevice<D, Y> + SameDtype<E, G, ops::losses::gaussian_nll_loss>)]
    #[example(let x = tensor![1.0, 2.0]; let y = tensor![1.0, 0.0]; let var = tensor![1.0, 1.0]; x.gaussian_nll_loss(&y, &var, false, 1e-6, Unreduced), x.gaussian_nll_loss(&y, &var, false, 1e-6, LossReduction::None), tensor![0.0, 2.0])]
    pub(crate) fn gaussian_nll_loss(
        &self,
        target: &Erased<'_, E, D>,
        var: &Erased<'_, E, D>,
        full: bool,
        eps: f64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "gaussian_nll_loss";
        let sizes = self.broadcast(op, target)?;
        if !broadcasts_to(var.sizes(), &sizes) {
            return Err(Error::Broadcast { op, lhs: (&*sizes).into(), rhs: var.sizes().into() });
        }
        let var = var.expand(op, &sizes)?;
        let is_negative = Losing::<Negative>::new([0.0; 2]);
        let any = var.reduce_pairs::<E, bool, _>(op, AnyAll::ANY, is_negative, &var, u32::MAX)?;
        if D::has_data(any.storage()) && D::peek(any.view())? {
            return invalid(op, "a variance is negative".to_owned());
        }
        let squares = self.map2_dense::<E, f64>(op, Losing::<SquaredDifference>::new([0.0; 2]), target)?;
        let constant = if full { 0.5 * core::f64::consts::TAU.ln() } else { 0.0 };
        squares.dense_losses(op, Losing::<Gaussian>::new([eps, constant]), &var, reduction)
    }
}
