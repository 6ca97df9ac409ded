//! RMSprop.

use super::{At, Plan, Rule, mean_of_squares, numbers, options, prepare, prepared};
use crate::cpu::stepping::Stepper;
use crate::ops::update::{Number, Numbers, Update};

options! {
    /// RMSprop: steps of the gradient divided by the root of its mean square (`torch.optim.RMSprop`). The rate is 0.01 at first.
    ///
    /// ```
    /// use castiron::{optim::RmsProp, tensor};
    /// let mut weight = tensor![1.0, -2.0];
    /// RmsProp::new(&weight).rate(0.1).step(&mut weight, &tensor![1.0, 0.0]);
    /// assert!(weight.isclose(tensor![0.0, -2.0], 1e-5, 1e-6, false).all().item());
    /// ```
    RmsProp,
    /// The options of [`RmsProp`].
    RmsPropOptions in "RmsProp" {
        rate: f64 = 1e-2,
        /// How much of the mean square is kept in each step (`alpha`).
        alpha: f64 = 0.99 in 0.0..,
        /// Added to the root that is divided by (`eps`).
        eps: f64 = 1e-8 in 0.0..,
        /// The weight decay: this times the parameter is added to the gradient (`weight_decay`).
        decay: f64 = 0.0 in 0.0..,
        /// The share of the last direction that is kept (`momentum`).
        momentum: f64 = 0.0 in 0.0..,
        /// Divides by the root of the variance, which is the mean square less the square of the mean (`centered`).
        centered: bool = false,
        /// Goes up instead of down (`maximize`).
        maximize: bool = false,
    }
}

/// The mean square, and what is divided by where it is not centred.
#[inline(always)]
fn squares<N: Number>(square: N, gradient: &N, numbers: &Numbers) -> N {
    mean_of_squares(square, gradient.clone(), numbers[4], numbers[5])
}
/// The mean gradient, and the root of the variance.
#[inline(always)]
fn centred<N: Number>(square: &N, mean: N, gradient: &N, numbers: &Numbers) -> (N, N) {
    let mean = mean.lerp(gradient.clone(), numbers[5]);
    let root = (square.clone() - mean.clone().squared()).sqrt() + numbers[6];
    (mean, root)
}
/// The direction and the parameter after a step along it.
#[inline(always)]
fn along<N: Number>(parameter: N, gradient: N, root: N, direction: N, numbers: &Numbers) -> (N, N) {
    let direction = direction * numbers[7] + gradient / root;
    (parameter + direction.clone() * -numbers[3], direction)
}

struct Plain;
impl Update<1> for Plain {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [square]: [N; 1], numbers: &Numbers) -> (N, [N; 1]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let square = squares(square, &gradient, numbers);
        let root = square.clone().sqrt() + numbers[6];
        (parameter + gradient * -numbers[3] / root, [square])
    }
}
struct Centred;
impl Update<2> for Centred {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [square, mean]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let square = squares(square, &gradient, numbers);
        let (mean, root) = centred(&square, mean, &gradient, numbers);
        (parameter + gradient * -numbers[3] / root, [square, mean])
    }
}
struct WithMomentum;
impl Update<2> for WithMomentum {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, [square, direction]: [N; 2], numbers: &Numbers) -> (N, [N; 2]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let square = squares(square, &gradient, numbers);
        let root = square.clone().sqrt() + numbers[6];
        let (parameter, direction) = along(parameter, gradient, root, direction, numbers);
        (parameter, [square, direction])
    }
}
struct CentredWithMomentum;
impl Update<3> for CentredWithMomentum {
    #[inline(always)]
    fn update<N: Number>(
        parameter: N,
        gradient: N,
        [square, mean, direction]: [N; 3],
        numbers: &Numbers,
    ) -> (N, [N; 3]) {
        let (parameter, gradient) = prepare(parameter, gradient, numbers);
        let square = squares(square, &gradient, numbers);
        let (mean, root) = centred(&square, mean, &gradient, numbers);
        let (parameter, direction) = along(parameter, gradient, root, direction, numbers);
        (parameter, [square, mean, direction])
    }
}

impl Rule for RmsPropOptions {
    const STATES: &'static [&'static str] = &["square_avg", "grad_avg", "momentum_buffer"];

    #[cfg_attr(not(feature = "precompiled"), inline)]
    fn plan(&mut self, _: &At) -> Plan {
        let &mut RmsPropOptions { rate, alpha, eps, decay, momentum, centered, maximize } = self;
        let numbers = numbers(prepared(maximize, rate, decay, false), [rate, alpha, 1.0 - alpha, eps, momentum]);
        match (centered, momentum > 0.0) {
            (false, false) => Plan { stepper: Stepper::of::<Plain, 1>(), numbers, states: &[0] },
            (true, false) => Plan { stepper: Stepper::of::<Centred, 2>(), numbers, states: &[0, 1] },
            (false, true) => Plan { stepper: Stepper::of::<WithMomentum, 2>(), numbers, states: &[0, 2] },
            (true, true) => Plan { stepper: Stepper::of::<CentredWithMomentum, 3>(), numbers, states: &[0, 1, 2] },
        }
    }
}
