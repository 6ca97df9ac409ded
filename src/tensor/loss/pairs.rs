//! Losses of each element beside its target: `mse_loss`, `l1_loss`, `huber_loss`, `kl_div` and their kin. They take one pass, and no
//! memory for the losses of single elements where these are summed.
//! Uses `loss::reduction`, `ops::losses`, `elementwise::apply`; used by `loss::binary`.

use super::reduction::{DivergenceReduction, Reduction, of_pairs, result};
use crate::device::Device;
use crate::dtype::{Dtype, Element, Tuned};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::losses::{
    AbsoluteDifference, Gaussian, HingeEmbedding, Huber, KlDivergence, KlDivergenceOfLogs, Losing, LossReduction,
    Negative, Poisson, PoissonOfLog, SmoothL1, SoftMargin, SquaredDifference,
};
use crate::ops::reduce::AnyAll;
use crate::shape::{Broadcast, Shape, SizeArray, TargetOf, WrittenTo};
use crate::storage::View;
use crate::tensor::elementwise::apply::map2;
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// That a target has the shape of predictions.
pub(crate) fn expect_target(op: &'static str, sizes: &[usize], target: &[usize]) -> Result<()> {
    if sizes == target {
        return Ok(());
    }
    Err(Error::Shape { op, expected: format!("{sizes:?}, as the predictions have"), found: target.into() })
}

/// The losses by a formula with these values, or what becomes of them.
pub(crate) fn pair_loss<F: Tuned, E, S: Shape, R: Shape, D: Device>(
    op: &'static str,
    given: [f64; 2],
    x: &Tensor<E, S, D>,
    y: View<'_, D::Storage, E>,
    reduction: LossReduction,
) -> Result<Tensor<E, R, D>>
where
    E: Element + Dtype,
{
    let view = x.elements();
    expect_target(op, view.sizes, y.sizes)?;
    let kernel = Losing::<F>::new(given);
    if reduction == LossReduction::None {
        return map2::<E, E, S, D, E>(kernel, view, y, x.shape(), [E::DTYPE; 2]).map(Tensor::retyped);
    }
    Ok(result(of_pairs::<_, E, E, E, D>(kernel, view, y, reduction, &[])?, view.sizes, reduction))
}

/// Values of a loss that no target could make right.
pub(crate) fn expect_values(op: &'static str, name: &str, value: f64, least: f64, is_open: bool) -> Result<()> {
    if value > least || (!is_open && value == least) {
        return Ok(());
    }
    let bound = if is_open { "greater than" } else { "at least" };
    crate::error::invalid(op, format!("`{name}` must be {bound} {least}, got {value}"))
}

/// What `full` and `log_input` of Poisson losses choose, as the values of the formula.
pub(crate) fn poisson_values(full: bool, eps: f64) -> [f64; 2] {
    [eps, f64::from(u8::from(full))]
}

/// Losses of a normal distribution, from predictions, targets and variances of the same sizes; those that are the result are row-major.
pub(crate) fn gaussian<E: Dtype, D: Device>(
    op: &'static str,
    [x, y, variance]: [View<'_, D::Storage, E>; 3],
    full: bool,
    eps: f64,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let is_negative = Losing::<Negative>::new([0.0; 2]);
    let any = D::reduce_pairs::<E, E, bool>(AnyAll::ANY, is_negative, variance, variance, u32::MAX)?;
    if D::has_data(&any) && D::peek(View::<_, bool>::new(&any, 0, &[], &[]))? {
        return crate::error::invalid(op, "a variance is negative".to_owned());
    }
    let to = strides::row_major(x.sizes);
    let squares = D::map2::<E, E, f64>(Losing::<SquaredDifference>::new([0.0; 2]), x, y, &to)?;
    let constant = if full { 0.5 * core::f64::consts::TAU.ln() } else { 0.0 };
    let kernel = Losing::<Gaussian>::new([eps, constant]);
    of_pairs::<_, f64, E, E, D>(kernel, View::new(&squares, 0, x.sizes, &to), variance, reduction, &to)
}

/// For a loss of an element beside its target it writes the method.
macro_rules! losses {
    ($($name:ident ($($parameter:ident: $ty:ty),*) [$formula:ty] $values:expr $(, check $check:expr)?;
        $doc:literal, $torch:literal, $example:literal)*) => {
        /// Losses of each element beside its target.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {$(
            #[doc = $doc]
            ///
            /// The target has the shape of `self`. The result is zero-dim for [`Mean`](crate::reduction::Mean) and
            /// [`Sum`](crate::reduction::Sum), of the same shape for [`Unreduced`](crate::reduction::Unreduced). Dtypes: floating-point,
            /// one for both; `f16` and `bf16` are computed in `f32`, and sums in `f64`.
            ///
            #[doc = concat!("PyTorch: `", $torch, "`.")]
            ///
            /// # Panics
            /// If sizes known at run time differ, a value is out of range or memory runs out.
            ///
            /// ```
            /// use castiron::{reduction::{Mean, Sum, Unreduced}, tensor};
            /// let (x, y) = (tensor![1.0, 2.0, -4.0], tensor![1.0, 0.0, 0.0]);
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<F: Dtype, T, R: Reduction<S>, X: Device>(
                &self,
                target: &Tensor<F, T, X>,
                $($parameter: $ty,)*
                reduction: R,
            ) -> Result<Tensor<E, R::Shape, D>>
            where
                E: FloatFor<ops::losses::$name> + SameDtypeFor<F, ops::losses::$name>,
                T: Shape + TargetOf<S>,
                T: SameDevice<D, X>,
            {
                let target = T::here(target);
                let (_, op) = (reduction, stringify!($name));
                $($check(op)?;)?
                pair_loss::<$formula, E, S, R::Shape, D>(op, $values, self, target.elements().known_as(), R::KIND)
            }
        )*}
    };
}
losses! {
    mse_loss() [SquaredDifference] [0.0; 2];
        "The squares of differences.", "torch.nn.functional.mse_loss",
        "assert_eq!(x.mse_loss(&y, Unreduced).to_vec(), [0.0, 4.0, 16.0]);"
    l1_loss() [AbsoluteDifference] [0.0; 2];
        "The absolute values of differences.", "torch.nn.functional.l1_loss",
        "assert_eq!(x.l1_loss(&y, Mean).item(), 2.0);"
    smooth_l1_loss(beta: f64) [SmoothL1] [beta, 0.0], check |op| expect_values(op, "beta", beta, 0.0, false);
        "Absolute values of differences, but below `beta` half of their squares divided by it.",
        "torch.nn.functional.smooth_l1_loss`, where `beta` is 1 if not given, `",
        "assert_eq!(x.smooth_l1_loss(&y, 4.0, Unreduced).to_vec(), [0.0, 0.5, 2.0]);"
    huber_loss(delta: f64) [Huber] [delta, 0.0], check |op| expect_values(op, "delta", delta, 0.0, true);
        "Half of the squares of differences, but a line beyond `delta`, with the slope that there is there.",
        "torch.nn.functional.huber_loss`, where `delta` is 1 if not given, `",
        "assert_eq!(x.huber_loss(&y, 2.0, Unreduced).to_vec(), [0.0, 2.0, 6.0]);"
    soft_margin_loss() [SoftMargin] [0.0; 2];
        "`log(1 + exp(-target * x))`, for targets that are 1 or -1.", "torch.nn.functional.soft_margin_loss",
        "let loss = x.soft_margin_loss(&tensor![1.0, 1.0, -1.0], Sum).item();\nassert!((loss - 0.458_34_f32).abs() < 1e-5);"
    hinge_embedding_loss(margin: f64) [HingeEmbedding] [margin, 0.0];
        "Of a distance: itself where the target is 1, how far it is below `margin` where that is -1.",
        "torch.nn.functional.hinge_embedding_loss`, where `margin` is 1 if not given, `",
        "assert_eq!(x.hinge_embedding_loss(&tensor![1.0, -1.0, -1.0], 3.0, Unreduced).to_vec(), [1.0, 1.0, 7.0]);"
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The Kullback-Leibler divergence of a target from predictions that are logarithms of probabilities: `target * (log(target) - x)`,
    /// or `exp(target) * (target - x)` if the target holds logarithms, too (`log_target`).
    ///
    /// The target has the shape of `self`. The result is zero-dim, or of the same shape for
    /// [`Unreduced`](crate::reduction::Unreduced); [`BatchMean`](crate::reduction::BatchMean) is the mean over the first axis of the
    /// divergences themselves. Dtypes: floating-point, one for both.
    ///
    /// PyTorch: `torch.nn.functional.kl_div`.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::{BatchMean, Unreduced}, tensor};
    /// let (x, y) = (tensor![[-2.0, 0.0]], tensor![[1.0, 0.0]]);
    /// assert_eq!(x.kl_div(&y, false, Unreduced).to_vec(), [2.0, 0.0]);
    /// assert_eq!(x.kl_div(&y, false, BatchMean).item(), 2.0);
    /// ```
    #[fallible]
    pub fn kl_div<F: Dtype, T, R: DivergenceReduction<S>, X: Device>(
        &self,
        target: &Tensor<F, T, X>,
        log_target: bool,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::kl_div> + SameDtypeFor<F, ops::losses::kl_div>,
        T: Shape + TargetOf<S>,
        T: SameDevice<D, X>,
    {
        let target = T::here(target);
        let (_, op, y) = (reduction, "kl_div", target.elements().known_as());
        if log_target {
            pair_loss::<KlDivergenceOfLogs, E, S, R::Shape, D>(op, [0.0; 2], self, y, R::KIND)
        } else {
            pair_loss::<KlDivergence, E, S, R::Shape, D>(op, [0.0; 2], self, y, R::KIND)
        }
    }

    /// The loss of counts beside rates of a Poisson distribution: `exp(x) - target * x` where `self` holds logarithms of the rates
    /// (`log_input`), else `x - target * log(x + eps)`. `full` adds an approximation of `log(target!)` where targets are above 1.
    ///
    /// The target has the shape of `self`, and so have the losses. Dtypes: floating-point, one for both.
    ///
    /// PyTorch: `torch.nn.functional.poisson_nll_loss`, where `log_input` is true, `full` false and `eps` 1e-8 if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Sum, tensor};
    /// let (x, y) = (tensor![0.0, 0.0], tensor![3.0, 5.0]);
    /// assert_eq!(x.poisson_nll_loss(&y, true, false, 1e-8, Sum).item(), 2.0);
    /// ```
    #[fallible]
    pub fn poisson_nll_loss<F: Dtype, T, R: Reduction<S>, X: Device>(
        &self,
        target: &Tensor<F, T, X>,
        log_input: bool,
        full: bool,
        eps: f64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::poisson_nll_loss> + SameDtypeFor<F, ops::losses::poisson_nll_loss>,
        T: Shape + TargetOf<S>,
        T: SameDevice<D, X>,
    {
        let target = T::here(target);
        let (_, op, y) = (reduction, "poisson_nll_loss", target.elements().known_as());
        let values = poisson_values(full, eps);
        if log_input {
            pair_loss::<PoissonOfLog, E, S, R::Shape, D>(op, values, self, y, R::KIND)
        } else {
            pair_loss::<Poisson, E, S, R::Shape, D>(op, values, self, y, R::KIND)
        }
    }

    /// The loss of a normal distribution with these means and variances: `(log(var) + (x - target)² / var) / 2`, where a variance
    /// counts as `eps` at least. `full` adds `log(2π) / 2`.
    ///
    /// The target has the shape of `self`; the variances broadcast to it. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.gaussian_nll_loss`, where `full` is false and `eps` 1e-6 if not given.
    ///
    /// # Panics
    /// If a variance is negative, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Unreduced, tensor};
    /// let (x, y, var) = (tensor![1.0, 2.0], tensor![1.0, 0.0], tensor![1.0]);
    /// assert_eq!(x.gaussian_nll_loss(&y, &var, false, 1e-6, Unreduced).to_vec(), [0.0, 2.0]);
    /// ```
    #[fallible]
    pub fn gaussian_nll_loss<T, V, R: Reduction<S>, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        target: &Tensor<F, T, X>,
        variance: &Tensor<G, V, Y>,
        full: bool,
        eps: f64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::gaussian_nll_loss>,
        T: Shape + TargetOf<S>,
        S: Broadcast<V>,
        <S as Broadcast<V>>::Output: WrittenTo<S>,
        T: SameDevice<D, X> + SameDtype<E, F, ops::losses::gaussian_nll_loss>,
        V: Shape + SameDevice<D, Y> + SameDtype<E, G, ops::losses::gaussian_nll_loss>,
    {
        let (target, variance) = (T::alike(T::here(target)), V::alike(V::here(variance)));
        let (_, op) = (reduction, "gaussian_nll_loss");
        let (x, y, variance) = (self.elements(), target.elements(), variance.elements());
        expect_target(op, x.sizes, y.sizes)?;
        if !crate::shape::broadcasts_to(variance.sizes, x.sizes) {
            return Err(Error::Broadcast { op, lhs: x.sizes.into(), rhs: variance.sizes.into() });
        }
        let spread = strides::broadcast_list(variance.sizes, variance.strides, x.sizes);
        let variance = variance.restrided(x.sizes, &spread);
        let storage = gaussian::<E, D>(op, [x, y, variance], full, eps, R::KIND)?;
        Ok(result(storage, S::Sizes::copied(x.sizes).as_ref(), R::KIND))
    }
}
