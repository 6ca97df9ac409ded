//! Adagrad.

use super::{At, Plan, Rule, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Adagrad: steps of the gradient divided by the root of the sum of its squares (`torch.optim.Adagrad`). The rate is 0.01 at first.
    ///
    /// ```
    /// use castiron::{optim::Adagrad, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// Adagrad::new(&weight).rate(0.1).step(&mut weight, &tensor![3.0, 0.0]);
    /// assert!(weight.isclose(tensor![0.9, -2.0], 1e-5, 1e-8, false).all().item());
    /// ```
    Adagrad,
    /// The options of [`Adagrad`].
    AdagradOptions in "Adagrad" {
        rate: f64 = 1e-2,
        /// By how much the rate falls: it is divided by 1 and this for each step (`lr_decay`).
        rate_decay: f64 = 0.0 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// What the sums of squares start with (`initial_accumulator_value`).
        initial: f64 = 0.0 in 0.0..,
        /// Added to the root that is divided by (`eps`).
        eps: f64 = 1e-10 in 0.0..,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

struct Summing;
impl Update<1> for Summing {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [sum]: [N; 1], numbers: &Numbers) -> (N, [N; 1]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let sum = sum + gradient.clone().squared();
        let root = sum.clone().sqrt() + numbers[4];
        (parameter + gradient * -numbers[3] / root, [sum])
    }
}

impl Rule for AdagradOptions {
    const STATES: &'static [&'static str] = &["sum"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut AdagradOptions { rate, rate_decay, decay, initial: _, eps, maximize } = self;
        let now = rate / (1.0 + (at.step - 1.0) * rate_decay);
        let numbers = numbers(prepared(maximize, rate, decay, false), [now, eps]);
        Plan { stepper: Stepper::of::<Summing, 1>(), numbers, states: &[0] }
    }

    fn start(&self) -> f64 {
        self.initial
    }
}
