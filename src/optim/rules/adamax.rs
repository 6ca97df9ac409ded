//! Adamax.

use super::{At, Plan, Rule, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Adamax: steps of the mean gradient divided by its largest magnitude, which fades (`torch.optim.Adamax`). The rate is 0.002 at first.
    ///
    /// ```
    /// use castiron::{optim::Adamax, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// Adamax::new(&weight).rate(0.1).step(&mut weight, &tensor![3.0, 0.0]);
    /// assert!(weight.isclose(tensor![0.9, -2.0], 1e-5, 1e-8, false).all().item());
    /// ```
    Adamax,
    /// The options of [`Adamax`].
    AdamaxOptions in "Adamax" {
        rate: f64 = 2e-3,
        /// How much of the mean gradient is kept in each step (`betas[0]`).
        beta1: f64 = 0.9 in 0.0..1.0,
        /// How much of the largest magnitude is kept in each step (`betas[1]`).
        beta2: f64 = 0.999 in 0.0..1.0,
        /// Added to the magnitude of the gradient (`eps`).
        eps: f64 = 1e-8 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

struct ByLargest;
impl Update<2> for ByLargest {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [mean, largest]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let [_, _, _, rate, rest1, beta2, eps, ..] = *numbers;
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let mean = mean.lerp(gradient.clone(), rest1);
        let largest = (largest * beta2).larger(gradient.abs() + eps);
        (parameter + mean.clone() * -rate / largest.clone(), [mean, largest])
    }
}

impl Rule for AdamaxOptions {
    const STATES: &'static [&'static str] = &["exp_avg", "exp_inf"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut AdamaxOptions { rate, beta1, beta2, eps, decay, maximize } = self;
        let now = rate / (1.0 - beta1.powf(at.step));
        let numbers = numbers(prepared(maximize, rate, decay, false), [now, 1.0 - beta1, beta2, eps]);
        Plan { stepper: Stepper::of::<ByLargest, 2>(), numbers, states: &[0, 1] }
    }
}
