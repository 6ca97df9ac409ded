//! Adam, AMSGrad and AdamW.

use super::{At, Plan, Rule, mean_of_squares, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Adam: steps of the mean gradient divided by the root of its mean square (`torch.optim.Adam`). The rate is 0.001 at first. See
    /// [`AdamW`] for weight decay that is not part of the gradient.
    ///
    /// ```
    /// use castiron::{Module, Tensor, optim::Adam, shape, tensor};
    /// #[derive(Module, Clone)]
    /// struct Line { slope: Tensor<f32, shape![]>, offset: Tensor<f32, shape![]> }
    ///
    /// let x = tensor![0.0, 1.0, 2.0];
    /// let y = tensor![1.0, 3.0, 5.0];
    /// let mut line = Line { slope: Tensor::zeros(), offset: Tensor::zeros() };
    /// let mut adam = Adam::new(&line).rate(0.1);
    /// for _ in 0..500 {
    ///     let error = (&x * &line.slope + &line.offset) - &y;
    ///     adam.step(&mut line, &Line { slope: (&error * &x).mean(), offset: error.mean() });
    /// }
    /// assert!((line.slope.item() - 2.0).abs() < 1e-3 && (line.offset.item() - 1.0).abs() < 1e-3);
    /// ```
    Adam,
    /// The options of [`Adam`].
    AdamOptions in "Adam" {
        rate: f64 = 1e-3,
        /// How much of the mean gradient is kept in each step (`betas[0]`).
        beta1: f64 = 0.9 in 0.0..1.0,
        /// How much of the mean square is kept in each step (`betas[1]`).
        beta2: f64 = 0.999 in 0.0..1.0,
        /// Added to the root that is divided by (`eps`).
        eps: f64 = 1e-8 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// Divides by the largest mean square so far (`amsgrad`).
        amsgrad: bool = false,
        /// Shrinks the parameter by the decay instead of adding it to the gradient, as [`AdamW`] does (`decoupled_weight_decay`).
        decoupled: bool = false,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

options! {
    /// Adam with weight decay that shrinks the parameters by themselves, and not by way of the gradient (`torch.optim.AdamW`). The rate is
    /// 0.001 at first, the decay 0.01.
    ///
    /// ```
    /// use castiron::{optim::AdamW, tensor};
    /// let mut weight = tensor![1.0, 1.0];
    /// AdamW::new(&weight).rate(0.1).decay(0.5).step(&mut weight, &tensor![0.0, 2.0]);
    /// assert!(weight.isclose(tensor![0.95, 0.85], 1e-5, 1e-8, false).all().item());
    /// ```
    AdamW,
    /// The options of [`AdamW`].
    AdamWOptions in "AdamW" {
        rate: f64 = 1e-3,
        /// How much of the mean gradient is kept in each step (`betas[0]`).
        beta1: f64 = 0.9 in 0.0..1.0,
        /// How much of the mean square is kept in each step (`betas[1]`).
        beta2: f64 = 0.999 in 0.0..1.0,
        /// Added to the root that is divided by (`eps`).
        eps: f64 = 1e-8 in 0.0..,
        /// The weight decay: the parameter shrinks by this times the rate (`weight_decay`).
        decay: f64 = 1e-2 in 0.0..,
        /// Divides by the largest mean square so far (`amsgrad`).
        amsgrad: bool = false,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

/// The step from the mean gradient and the mean square.
#[inline(always)]
fn step<N: Number>(parameter: N, mean: N, square: N, numbers: &Numbers) -> N {
    let [.., rate, root, eps] = first_nine(numbers);
    parameter + mean * -rate / (square.sqrt() / root + eps)
}

#[inline(always)]
fn first_nine(numbers: &Numbers) -> [f64; 9] {
    core::array::from_fn(|at| numbers[at])
}

/// The mean gradient and the mean square with one gradient more.
#[inline(always)]
fn means<N: Number>(gradient: N, mean: N, square: N, numbers: &Numbers) -> [N; 2] {
    let [_, _, _, rest1, beta2, rest2, ..] = *numbers;
    [mean.lerp(gradient.clone(), rest1), mean_of_squares(square, gradient, beta2, rest2)]
}

struct Plain;
impl Update<2> for Plain {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [mean, square]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let [mean, square] = means(gradient, mean, square, numbers);
        (step(parameter, mean.clone(), square.clone(), numbers), [mean, square])
    }
}

struct AmsGrad;
impl Update<3> for AmsGrad {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [mean, square, most]: [N; 3], numbers: &Numbers) -> (N, [N; 3]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let [mean, square] = means(gradient, mean, square, numbers);
        let most = most.larger(square.clone());
        (step(parameter, mean.clone(), most.clone(), numbers), [mean, square, most])
    }
}

const STATES: &[&str] = &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"];

#[cfg_attr(not(feature = "precompiled"), inline)]
fn plan(at: &At, first: [f64; 3], rate: f64, [beta1, beta2]: [f64; 2], eps: f64, amsgrad: bool) -> Plan {
    let (left1, left2) = (1.0 - beta1.powf(at.step), 1.0 - beta2.powf(at.step));
    let numbers = numbers(first, [1.0 - beta1, beta2, 1.0 - beta2, rate / left1, left2.sqrt(), eps]);
    if amsgrad {
        Plan { stepper: Stepper::of::<AmsGrad, 3>(), numbers, states: &[0, 1, 2] }
    } else {
        Plan { stepper: Stepper::of::<Plain, 2>(), numbers, states: &[0, 1] }
    }
}

impl Rule for AdamOptions {
    const STATES: &'static [&'static str] = STATES;
    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut AdamOptions { rate, beta1, beta2, eps, decay, amsgrad, decoupled, maximize } = self;
        plan(at, prepared(maximize, rate, decay, decoupled), rate, [beta1, beta2], eps, amsgrad)
    }
}
impl Rule for AdamWOptions {
    const STATES: &'static [&'static str] = STATES;
    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut AdamWOptions { rate, beta1, beta2, eps, decay, amsgrad, maximize } = self;
        plan(at, prepared(maximize, rate, decay, true), rate, [beta1, beta2], eps, amsgrad)
    }
}
