//! `LossScale`: losses are scaled, so that gradients in half precision are not too small.

use super::driver;
use super::rules::Rule;
use super::{Optimizer, scale};
use crate::Module;
use crate::cpu::stepping::Total;
use crate::device::Device;
use crate::dtype::Castable as _;
use crate::dtype::{CastTo, Float, bf16, f16};
use crate::error::{Result, invalid};
use crate::io::Listing;
use crate::io::numbers_module;
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// Scales the loss, so that gradients that are computed in half precision do not become zero, and divides the gradient by the same number
/// (`torch.amp.GradScaler`). Source of the rule: `torch/amp/grad_scaler.py`, `aten/src/ATen/native/AmpKernels.cpp`.
///
/// The factor is halved when a gradient is not finite, and that step is left out; it is doubled after 2000 steps in a row that were finite.
/// Parameters are best kept in `f32` and cast inside of the function whose gradient is taken: their gradient is `f32` then.
///
/// ```
/// use castiron::{f16, grad::Grad, optim::{LossScale, Sgd}, tensor};
/// let mut weight = tensor![1e-3_f32, 0.5];
/// let mut sgd = Sgd::new(&weight).rate(0.25);
/// let mut scale = LossScale::new();
/// for _ in 0..3 {
///     let (_, loss, grads) = weight.value_and_grad_with((), |weight, ()| {
///         let half = weight.to::<f16>();
///         let loss = (&half * &half).sum();
///         (scale.scale(&loss), loss)
///     });
///     scale.step(&mut sgd, &mut weight, grads);
///     println!("{}", loss.item());
/// }
/// // The first gradient was 65536, where `f16` is infinite.
/// assert_eq!((scale.factor(), sgd.steps(), weight[1]), (32768.0, 2, 0.125));
/// ```
///
/// With clipping, or several optimisers, the parts of [`step`](Self::step) are called one by one:
///
/// ```
/// # use castiron::{Module, grad::Grad, optim::{LossScale, Sgd}, tensor};
/// # let (mut weight, mut scale) = (tensor![1.0_f32, 2.0], LossScale::new());
/// # let mut sgd = Sgd::new(&weight);
/// let (_, mut grads) = weight.value_and_grad((), |weight, ()| scale.scale(&weight.square().sum()));
/// let is_finite = scale.unscale(&mut grads);
/// if is_finite {
///     grads.clip_norm(1.0);
///     sgd.step(&mut weight, &grads);
/// }
/// scale.update(is_finite);
/// ```
///
/// It is a [`Module`]: saved and loaded, it goes on with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct LossScale {
    /// A number of `f32`, as in PyTorch.
    scale: f64,
    growth_factor: f64,
    backoff_factor: f64,
    growth_interval: i64,
    growth_tracker: i64,
}

impl Default for LossScale {
    fn default() -> Self {
        Self::new()
    }
}

/// The dtype that a loss of this dtype is scaled in: at least `f32`, as in PyTorch.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a loss of `{Self}` can't be scaled",
    label = "a loss is of `f16`, `bf16`, `f32` or `f64`",
    note = "cast it first, for example `.to::<f32>()`"
)]
pub trait Scaled: Float + CastTo<Self::In> {
    type In: Float;
}
impl Scaled for f16 {
    type In = f32;
}
impl Scaled for bf16 {
    type In = f32;
}
impl Scaled for f32 {
    type In = f32;
}
impl Scaled for f64 {
    type In = f64;
}

impl LossScale {
    /// A factor of 65536, as in PyTorch.
    pub fn new() -> Self {
        LossScale { scale: 65536.0, growth_factor: 2.0, backoff_factor: 0.5, growth_interval: 2000, growth_tracker: 0 }
    }
    /// The factor at first, 65536 if not given (`init_scale`). It is rounded to `f32`.
    pub fn initial(mut self, factor: f64) -> Self {
        self.scale = f64::from(factor as f32);
        self
    }
    /// What the factor is multiplied by when gradients were finite for long, 2 if not given (`growth_factor`).
    pub fn growth(mut self, by: f64) -> Self {
        self.growth_factor = by;
        self
    }
    /// What the factor is multiplied by when a gradient is not finite, 0.5 if not given (`backoff_factor`).
    pub fn backoff(mut self, by: f64) -> Self {
        self.backoff_factor = by;
        self
    }
    /// After how many steps in a row with finite gradients the factor grows, 2000 if not given (`growth_interval`).
    pub fn interval(mut self, steps: u32) -> Self {
        self.growth_interval = steps.into();
        self
    }
    /// The factor now (`get_scale`).
    pub fn factor(&self) -> f64 {
        self.scale
    }

    /// The loss times the factor, on the tape; of half precision in `f32`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{optim::LossScale, tensor};
    /// assert_eq!(LossScale::new().initial(8.0).scale(&tensor![0.5, 1.0].sum()).item(), 12.0);
    /// ```
    #[fallible]
    pub fn scale<E: Scaled, D: Device>(&self, loss: &Tensor<E, (), D>) -> Result<Tensor<E::In, (), D>> {
        loss.try_to::<E::In>()?.try_mul(E::In::from_f64(self.scale))
    }

    /// Divides gradients by the factor, and returns whether all of them are finite (`unscale_`). If not, the step is left out.
    ///
    /// # Panics
    /// If an option is out of its range, or memory runs out.
    ///
    /// ```
    /// use castiron::{optim::LossScale, tensor};
    /// let scale = LossScale::new().initial(8.0);
    /// let mut grads = tensor![4.0, -16.0];
    /// assert!(scale.unscale(&mut grads) && grads.to_vec() == [0.5, -2.0]);
    /// assert!(!scale.unscale(&mut tensor![1.0, f32::NAN]));
    /// ```
    #[must_use = "a step by gradients that are not finite is left out"]
    #[fallible]
    pub fn unscale(&self, gradients: &mut impl Module) -> Result<bool> {
        self.check()?;
        let largest = driver::total("unscale", Total::Largest, Listing::of(gradients), None)?;
        scale("unscale", gradients, f64::from((1.0 / self.scale) as f32))?;
        Ok(largest.is_finite())
    }

    /// Changes the factor after a step (`update`): it is told whether all gradients of the step were finite.
    ///
    /// ```
    /// use castiron::optim::LossScale;
    /// let mut scale = LossScale::new().interval(2);
    /// let factors = [true, true, false].map(|is_finite| {
    ///     scale.update(is_finite);
    ///     scale.factor()
    /// });
    /// assert_eq!(factors, [65536.0, 131072.0, 65536.0]);
    /// ```
    pub fn update(&mut self, is_finite: bool) {
        let times = |by: f64| f64::from((self.scale * by) as f32);
        if !is_finite {
            (self.scale, self.growth_tracker) = (times(self.backoff_factor), 0);
            return;
        }
        self.growth_tracker = self.growth_tracker.saturating_add(1);
        if self.growth_tracker >= self.growth_interval {
            let grown = times(self.growth_factor);
            // (It stays where `f32` ends.)
            if grown.is_finite() {
                self.scale = grown;
            }
            self.growth_tracker = 0;
        }
    }

    /// Divides the gradients of a scaled loss by the factor, moves the parameters along them if they are finite, and changes the factor for
    /// the next step. Returns whether there was a step (`unscale_`, `step` and `update`).
    ///
    /// # Panics
    /// As [`unscale`](Self::unscale), and as the optimiser's [`step`](Optimizer::step); the factor is as before then.
    ///
    /// ```
    /// use castiron::{optim::{LossScale, Sgd}, tensor};
    /// let mut weight = tensor![1.0, 2.0];
    /// let (mut sgd, mut scale) = (Sgd::new(&weight).rate(0.5), LossScale::new().initial(8.0));
    /// assert!(scale.step(&mut sgd, &mut weight, tensor![8.0, -16.0]));
    /// assert!(!scale.step(&mut sgd, &mut weight, tensor![f32::INFINITY, 0.0]));
    /// assert_eq!((weight.to_vec(), scale.factor()), (vec![0.5, 3.0], 4.0));
    /// ```
    #[fallible]
    pub fn step<R: Rule, P: Module>(
        &mut self,
        optimizer: &mut Optimizer<R, P>,
        parameters: &mut P,
        mut gradients: P,
    ) -> Result<bool> {
        let is_finite = self.try_unscale(&mut gradients)?;
        if is_finite {
            optimizer.try_step(parameters, &gradients)?;
        }
        self.update(is_finite);
        Ok(is_finite)
    }

    fn check(&self) -> Result<()> {
        let Self { scale, growth_factor, backoff_factor, growth_interval, .. } = self;
        let is_sound = *scale > 0.0
            && scale.is_finite()
            && *growth_factor > 1.0
            && (0.0..1.0).contains(backoff_factor)
            && *growth_interval > 0;
        if is_sound {
            return Ok(());
        }
        let reason = format!(
            "the factor is above 0, growth above 1, backoff below 1 and the interval at least 1; these are {scale}, {growth_factor}, \
             {backoff_factor} and {growth_interval}"
        );
        invalid("LossScale", reason)
    }
}

numbers_module!(LossScale { scale growth_factor backoff_factor growth_interval growth_tracker });
