//! Stochastic gradient descent.

use super::{At, Plan, Rule, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// Stochastic gradient descent, with momentum, dampening, Nesterov's momentum and weight decay (`torch.optim.SGD`). The rate is 0.001
    /// at first, the momentum 0.
    ///
    /// ```
    /// use castiron::{optim::Sgd, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// let mut sgd = Sgd::new(&weight).rate(0.1).momentum(0.9).nesterov();
    /// let gradient = tensor![1.0, 0.0];
    /// sgd.step(&mut weight, &gradient);
    /// assert!(weight.isclose(tensor![0.81, -2.0], 1e-5, 1e-8, false).all().item());
    /// ```
    Sgd,
    /// The options of [`Sgd`].
    SgdOptions in "Sgd" {
        rate: f64 = 1e-3,
        /// The share of the last direction that is kept (`momentum`).
        momentum: f64 = 0.0 in 0.0..,
        /// How much of the gradient is left out of the direction (`dampening`).
        dampening: f64 = 0.0 in f64::NEG_INFINITY..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// Looks ahead along the direction (`nesterov`); the momentum is then above 0 and the dampening 0.
        nesterov: bool = false,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

struct Simple;
impl Update<0> for Simple {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, []: [N; 0], numbers: &Numbers) -> (N, [N; 0]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        (parameter + gradient * -numbers[3], [])
    }
}

struct WithMomentum<const NESTEROV: bool>;
impl<const NESTEROV: bool> Update<1> for WithMomentum<NESTEROV> {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [direction]: [N; 1], numbers: &Numbers) -> (N, [N; 1]) {
        let [_, _, _, rate, momentum, share, ..] = *numbers;
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let direction = direction * momentum + gradient.clone() * share;
        let step = if NESTEROV { gradient + direction.clone() * momentum } else { direction.clone() };
        (parameter + step * -rate, [direction])
    }
}

impl Rule for SgdOptions {
    const STATES: &'static [&'static str] = &["momentum_buffer"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, at: &At) -> Plan {
        let &mut SgdOptions { rate, momentum, dampening, decay, nesterov, maximize } = self;
        let first = prepared(maximize, rate, decay, false);
        if momentum == 0.0 {
            return Plan { stepper: Stepper::of::<Simple, 0>(), numbers: numbers(first, [rate]), states: &[] };
        }
        // (The first direction is the gradient: there is none before, which is 0.)
        let share = if at.is_first { 1.0 } else { 1.0 - dampening };
        let numbers = numbers(first, [rate, momentum, share]);
        let stepper =
            if nesterov { Stepper::of::<WithMomentum<true>, 1>() } else { Stepper::of::<WithMomentum<false>, 1>() };
        Plan { stepper, numbers, states: &[0] }
    }

    fn check_together(&self) -> crate::Result<()> {
        if self.nesterov && !(self.momentum > 0.0 && self.dampening == 0.0) {
            let reason = "Nesterov's momentum needs a momentum above 0 and no dampening".to_owned();
            return crate::error::invalid("Sgd", reason);
        }
        Ok(())
    }
}
