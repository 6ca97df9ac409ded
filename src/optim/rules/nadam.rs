//! NAdam.

use super::{At, Plan, Rule, mean_of_squares, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Adam with Nesterov's momentum (`torch.optim.NAdam`). The rate is 0.002 at first.
    ///
    /// ```
    /// use castiron::{optim::NAdam, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// NAdam::new(&weight).rate(0.1).step(&mut weight, &tensor![3.0, 0.0]);
    /// assert!(weight[0] < 0.9 && weight[1] == -2.0);
    /// ```
    NAdam,
    /// The options of [`NAdam`].
    NAdamOptions in "NAdam" {
        rate: f64 = 2e-3,
        /// How much of the mean gradient is kept in each step (`betas[0]`).
        beta1: f64 = 0.9 in 0.0..1.0,
        /// How much of the mean square is kept in each step (`betas[1]`).
        beta2: f64 = 0.999 in 0.0..1.0,
        /// Added to the root that is divided by (`eps`).
        eps: f64 = 1e-8 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// How fast the momentum approaches `beta1` (`momentum_decay`).
        momentum_decay: f64 = 4e-3 in 0.0..,
        /// The product of the momenta of all steps so far, which each step takes further (`mu_product` of the state).
        mu_product: f64 = 1.0 in 0.0..,
        /// Shrinks the parameter by the decay instead of adding it to the gradient (`decoupled_weight_decay`).
        decoupled: bool = false,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

struct Nesterov;
impl Update<2> for Nesterov {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [mean, square]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let [_, _, _, rest1, beta2, rest2, left2, eps, by_gradient, by_mean, ..] = *numbers;
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let mean = mean.lerp(gradient.clone(), rest1);
        let square = mean_of_squares(square, gradient.clone(), beta2, rest2);
        let root = (square.clone() / left2).sqrt() + eps;
        let parameter = parameter + gradient * by_gradient / root.clone();
        (parameter + mean.clone() * by_mean / root, [mean, square])
    }
}

impl Rule for NAdamOptions {
    const STATES: &'static [&'static str] = &["exp_avg", "exp_avg_sq"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut NAdamOptions { rate, beta1, beta2, eps, decay, momentum_decay, mu_product, decoupled, maximize } =
            self;
        let momentum = |step: f64| beta1 * (1.0 - 0.5 * 0.96_f64.powf(step * momentum_decay));
        let (now, next) = (momentum(at.step), momentum(at.step + 1.0));
        let product = mu_product * now;
        self.mu_product = product;
        let by_gradient = -rate * (1.0 - now) / (1.0 - product);
        let by_mean = -rate * next / (1.0 - product * next);
        let left2 = 1.0 - beta2.powf(at.step);
        let rest = [1.0 - beta1, beta2, 1.0 - beta2, left2, eps, by_gradient, by_mean];
        let numbers = numbers(prepared(maximize, rate, decay, decoupled), rest);
        Plan { stepper: Stepper::of::<Nesterov, 2>(), numbers, states: &[0, 1] }
    }
}
