//! RAdam.

use super::{At, Plan, Rule, mean_of_squares, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Adam whose first steps are not divided by the root of the mean square, and later ones rectified (`torch.optim.RAdam`). The rate is
    /// 0.001 at first.
    ///
    /// ```
    /// use castiron::{optim::RAdam, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// RAdam::new(&weight).rate(0.1).step(&mut weight, &tensor![3.0, 0.0]);
    /// assert!(weight.isclose(tensor![0.7, -2.0], 1e-5, 1e-8, false).all().item());
    /// ```
    RAdam,
    /// The options of [`RAdam`].
    RAdamOptions in "RAdam" {
        rate: f64 = 1e-3,
        /// How much of the mean gradient is kept in each step (`betas[0]`).
        beta1: f64 = 0.9 in 0.0..1.0,
        /// How much of the mean square is kept in each step (`betas[1]`).
        beta2: f64 = 0.999 in 0.0..1.0,
        /// Added to the root that is divided by (`eps`).
        eps: f64 = 1e-8 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// Shrinks the parameter by the decay instead of adding it to the gradient (`decoupled_weight_decay`).
        decoupled: bool = false,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

struct Rectified;
impl Update<2> for Rectified {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [mean, square]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let [_, _, _, rest1, beta2, rest2, left1, rate, eps, rectified, ..] = *numbers;
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let mean = mean.lerp(gradient.clone(), rest1);
        let square = mean_of_squares(square, gradient, beta2, rest2);
        let mut step = mean.clone() / left1 * rate;
        if rectified != 0.0 {
            step = step * rectified / (square.clone().sqrt() + eps);
        }
        (parameter - step, [mean, square])
    }
}

impl Rule for RAdamOptions {
    const STATES: &'static [&'static str] = &["exp_avg", "exp_avg_sq"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut RAdamOptions { rate, beta1, beta2, eps, decay, decoupled, maximize } = self;
        let (left1, left2) = (1.0 - beta1.powf(at.step), 1.0 - beta2.powf(at.step));
        // The length of the simple mean that the running mean is like: in the end, and now.
        let end = 2.0 / (1.0 - beta2) - 1.0;
        let now = end - 2.0 * at.step * beta2.powf(at.step) / left2;
        let rectified = if now > 5.0 {
            let variance = (now - 4.0) * (now - 2.0) * end / ((end - 4.0) * (end - 2.0) * now);
            variance.sqrt() * left2.sqrt()
        } else {
            0.0
        };
        let rest = [1.0 - beta1, beta2, 1.0 - beta2, left1, rate, eps, rectified];
        let numbers = numbers(prepared(maximize, rate, decay, decoupled), rest);
        Plan { stepper: Stepper::of::<Rectified, 2>(), numbers, states: &[0, 1] }
    }
}
