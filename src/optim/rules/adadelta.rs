//! Adadelta.

use super::{At, Plan, Rule, mean_of_squares, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Adadelta: steps of the gradient times the root of the mean square of steps, divided by that of gradients (`torch.optim.Adadelta`).
    /// The rate is 1 at first.
    ///
    /// ```
    /// use castiron::{optim::Adadelta, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// let mut adadelta = Adadelta::new(&weight);
    /// adadelta.step(&mut weight, &tensor![1.0, 0.0]);
    /// assert!(weight[0] < 1.0 && weight[1] == -2.0);
    /// ```
    Adadelta,
    /// The options of [`Adadelta`].
    AdadeltaOptions in "Adadelta" {
        rate: f64 = 1.0,
        /// How much of the mean squares is kept in each step (`rho`).
        rho: f64 = 0.9 in 0.0..=1.0,
        /// Added to the mean squares (`eps`).
        eps: f64 = 1e-6 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

struct ByDeltas;
impl Update<2> for ByDeltas {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [square, deltas]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let [_, _, _, rate, rho, rest, eps, ..] = *numbers;
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let square = mean_of_squares(square, gradient.clone(), rho, rest);
        let delta = (deltas.clone() + eps).sqrt() / (square.clone() + eps).sqrt() * gradient;
        let deltas = mean_of_squares(deltas, delta.clone(), rho, rest);
        (parameter + delta * -rate, [square, deltas])
    }
}

impl Rule for AdadeltaOptions {
    const STATES: &'static [&'static str] = &["square_avg", "acc_delta"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, _: &At) -> Plan {
        let &mut AdadeltaOptions { rate, rho, eps, decay, maximize } = self;
        let numbers = numbers(prepared(maximize, rate, decay, false), [rate, rho, 1.0 - rho, eps]);
        Plan { stepper: Stepper::of::<ByDeltas, 2>(), numbers, states: &[0, 1] }
    }
}
