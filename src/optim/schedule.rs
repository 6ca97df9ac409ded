//! Learning rates that follow a schedule. Source of the formulas: `torch/optim/lr_scheduler.py`, in closed form.

use crate::io::numbers_module;
use core::f64::consts::PI;

/// A learning rate for each step, counted from 0: a value, which [`Optimizer::set_rate`](super::Optimizer::set_rate) is given.
///
/// Steps are whatever the caller counts: batches, or epochs.
///
/// ```
/// use castiron::optim::{Schedule, Sgd};
/// use castiron::tensor;
/// let mut weight = tensor![1.0, 2.0];
/// let mut sgd = Sgd::new(&weight);
/// // Four steps of warm-up from a tenth, then half a cosine down to nothing.
/// let schedule = Schedule::linear(0.5, 0.1, 1.0, 4).then(4, Schedule::cosine(0.5, 16));
/// for step in 0..20 {
///     sgd.set_rate(schedule.at(step));
///     sgd.step(&mut weight, &tensor![0.1, 0.1]);
/// }
/// assert_eq!((schedule.at(0), schedule.at(4)), (0.05, 0.5));
/// assert!(schedule.at(20).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    parts: Vec<(u64, Part)>,
}

/// A formula, from a step on.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Step { rate: f64, every: u64, factor: f64 },
    MultiStep { rate: f64, at: Vec<u64>, factor: f64 },
    Exponential { rate: f64, factor: f64 },
    Cosine { rate: f64, steps: u64, least: f64 },
    Restarts { rate: f64, first: u64, times: u64, least: f64 },
    Linear { rate: f64, from: f64, to: f64, steps: u64 },
    Polynomial { rate: f64, power: f64, steps: u64 },
    OneCycle(OneCycle),
}

impl From<Part> for Schedule {
    fn from(part: Part) -> Self {
        Schedule { parts: vec![(0, part)] }
    }
}

impl Schedule {
    /// Always the same rate.
    ///
    /// ```
    /// assert_eq!(castiron::optim::Schedule::constant(0.5).at(7), 0.5);
    /// ```
    pub fn constant(rate: f64) -> Self {
        Part::Exponential { rate, factor: 1.0 }.into()
    }

    /// The rate is multiplied by the factor every `every` steps (`StepLR`).
    ///
    /// ```
    /// let schedule = castiron::optim::Schedule::step(1.0, 2, 0.5);
    /// assert_eq!([0, 1, 2, 3, 4].map(|step| schedule.at(step)), [1.0, 1.0, 0.5, 0.5, 0.25]);
    /// ```
    pub fn step(rate: f64, every: u64, factor: f64) -> Self {
        Part::Step { rate, every: every.max(1), factor }.into()
    }

    /// The rate times the factor once more from each of these steps on (`MultiStepLR`).
    ///
    /// ```
    /// let schedule = castiron::optim::Schedule::multi_step(1.0, [1, 3], 0.5);
    /// assert_eq!([0, 1, 2, 3, 4].map(|step| schedule.at(step)), [1.0, 0.5, 0.5, 0.25, 0.25]);
    /// ```
    pub fn multi_step(rate: f64, at: impl IntoIterator<Item = u64>, factor: f64) -> Self {
        Part::MultiStep { rate, at: at.into_iter().collect(), factor }.into()
    }

    /// The rate times a power of the factor (`ExponentialLR`).
    ///
    /// ```
    /// assert_eq!(castiron::optim::Schedule::exponential(1.0, 0.5).at(3), 0.125);
    /// ```
    pub fn exponential(rate: f64, factor: f64) -> Self {
        Part::Exponential { rate, factor }.into()
    }

    /// Half a cosine, from the rate down to 0 after `steps` steps (`CosineAnnealingLR`). See [`least`](Self::least).
    ///
    /// ```
    /// let schedule = castiron::optim::Schedule::cosine(1.0, 10).least(0.2);
    /// assert!((schedule.at(5) - 0.6).abs() < 1e-12 && (schedule.at(10) - 0.2).abs() < 1e-12);
    /// ```
    pub fn cosine(rate: f64, steps: u64) -> Self {
        Part::Cosine { rate, steps: steps.max(1), least: 0.0 }.into()
    }

    /// Half a cosine of `steps` steps, and then from the top again, each cycle `times` as long as the one before
    /// (`CosineAnnealingWarmRestarts`).
    ///
    /// ```
    /// let schedule = castiron::optim::Schedule::cosine_restarts(1.0, 4, 2);
    /// assert_eq!([0, 4, 12].map(|step| schedule.at(step)), [1.0; 3]);
    /// assert!((schedule.at(8) - 0.5).abs() < 1e-12);
    /// ```
    pub fn cosine_restarts(rate: f64, first: u64, times: u64) -> Self {
        Part::Restarts { rate, first: first.max(1), times: times.max(1), least: 0.0 }.into()
    }

    /// The rate times a factor that goes from one number to another in `steps` steps and stays there (`LinearLR`): a warm-up, if the first is the
    /// smaller.
    ///
    /// ```
    /// let schedule = castiron::optim::Schedule::linear(1.0, 0.5, 1.0, 2);
    /// assert_eq!([0, 1, 2, 3].map(|step| schedule.at(step)), [0.5, 0.75, 1.0, 1.0]);
    /// ```
    pub fn linear(rate: f64, from: f64, to: f64, steps: u64) -> Self {
        Part::Linear { rate, from, to, steps: steps.max(1) }.into()
    }

    /// The rate times a power of the part of the steps that is left (`PolynomialLR`).
    ///
    /// ```
    /// assert_eq!(castiron::optim::Schedule::polynomial(1.0, 4, 2.0).at(2), 0.25);
    /// ```
    pub fn polynomial(rate: f64, steps: u64, power: f64) -> Self {
        Part::Polynomial { rate, power, steps: steps.max(1) }.into()
    }

    /// For cosines: the smallest rate (`eta_min`); other schedules stay as they are.
    pub fn least(mut self, to: f64) -> Self {
        for (_, part) in &mut self.parts {
            if let Part::Cosine { least, .. } | Part::Restarts { least, .. } = part {
                *least = to;
            }
        }
        self
    }

    /// From this step on another schedule, which counts its steps from there (`SequentialLR`).
    ///
    /// ```
    /// use castiron::optim::Schedule;
    /// let schedule = Schedule::constant(1.0).then(2, Schedule::exponential(1.0, 0.5));
    /// assert_eq!([0, 1, 2, 3, 4].map(|step| schedule.at(step)), [1.0, 1.0, 1.0, 0.5, 0.25]);
    /// ```
    pub fn then(mut self, at: u64, next: Schedule) -> Self {
        self.parts.retain(|(from, _)| *from == 0 || *from < at);
        self.parts.extend(next.parts.into_iter().map(|(from, part)| (at.saturating_add(from), part)));
        self
    }

    /// The rate of a step.
    pub fn at(&self, step: u64) -> f64 {
        let last = self.parts.iter().rev().find(|(from, _)| *from <= step);
        last.map_or(0.0, |(from, part)| part.at(step - from))
    }
}

/// From one rate to another by half a cosine.
fn by_cosine(from: f64, to: f64, part: f64) -> f64 {
    to + (from - to) / 2.0 * ((PI * part).cos() + 1.0)
}

impl Part {
    fn at(&self, step: u64) -> f64 {
        let power = |factor: f64, times: u64| factor.powf(times as f64);
        match self {
            Part::Step { rate, every, factor } => rate * power(*factor, step / every),
            Part::MultiStep { rate, at, factor } => {
                rate * power(*factor, at.iter().filter(|&&at| at <= step).count() as u64)
            }
            Part::Exponential { rate, factor } => rate * power(*factor, step),
            Part::Cosine { rate, steps, least } => by_cosine(*rate, *least, step as f64 / *steps as f64),
            Part::Restarts { rate, first, times, least } => {
                let (mut left, mut len) = (step, *first);
                if *times == 1 {
                    left %= len;
                }
                while left >= len {
                    left -= len;
                    len = len.saturating_mul(*times);
                }
                by_cosine(*rate, *least, left as f64 / len as f64)
            }
            Part::Linear { rate, from, to, steps } => {
                rate * (from + (to - from) * step.min(*steps) as f64 / *steps as f64)
            }
            Part::Polynomial { rate, power, steps } => {
                rate * (1.0 - step.min(*steps) as f64 / *steps as f64).powf(*power)
            }
            Part::OneCycle(cycle) => cycle.at(step),
        }
    }
}

/// One cycle: up from a fraction of the rate to it, and down to almost nothing (`OneCycleLR`). It is a [`Schedule`] by `into()`.
///
/// ```
/// use castiron::optim::{OneCycle, Schedule};
/// let cycle = OneCycle::new(0.5, 100);
/// assert!((cycle.at(0) - 0.02).abs() < 1e-12 && (cycle.at(29) - 0.5).abs() < 1e-12);
/// let schedule: Schedule = cycle.into();
/// assert!((schedule.at(99) - 0.02 / 1e4).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OneCycle {
    rate: f64,
    steps: u64,
    warm: f64,
    start_by: f64,
    end_by: f64,
    is_linear: bool,
    has_three_phases: bool,
}

impl OneCycle {
    /// A cycle up to a rate (`max_lr`) over `steps` steps.
    pub fn new(rate: f64, steps: u64) -> Self {
        OneCycle { rate, steps, warm: 0.3, start_by: 25.0, end_by: 1e4, is_linear: false, has_three_phases: false }
    }
    /// The part of the steps in which the rate rises, 0.3 if not given (`pct_start`).
    pub fn warm(mut self, part: f64) -> Self {
        self.warm = part;
        self
    }
    /// By what the rate is divided at first, 25 if not given (`div_factor`).
    pub fn start_by(mut self, by: f64) -> Self {
        self.start_by = by;
        self
    }
    /// By what the first rate is divided in the end, 10,000 if not given (`final_div_factor`).
    pub fn end_by(mut self, by: f64) -> Self {
        self.end_by = by;
        self
    }
    /// Straight lines instead of cosines (`anneal_strategy="linear"`).
    pub fn linear(mut self) -> Self {
        self.is_linear = true;
        self
    }
    /// Down to the first rate as fast as up, and only then to the last (`three_phase`).
    pub fn three_phases(mut self) -> Self {
        self.has_three_phases = true;
        self
    }

    /// The rate of a step.
    pub fn at(&self, step: u64) -> f64 {
        let (first, top) = (self.rate / self.start_by, self.rate);
        let (last, steps) = (first / self.end_by, self.steps as f64);
        let up = (self.warm * steps - 1.0, first, top);
        let end = steps - 1.0;
        let down = (end, top, last);
        let three = [up, (2.0 * self.warm * steps - 2.0, top, first), (end, first, last)];
        let phases: &[(f64, f64, f64)] = if self.has_three_phases { &three } else { &[up, down] };
        let (step, mut begin) = (step as f64, 0.0);
        for &(end, from, to) in phases {
            if step <= end {
                if end <= begin {
                    // A phase of no length.
                    return to;
                }
                let part = (step - begin) / (end - begin);
                return if self.is_linear { (to - from) * part + from } else { by_cosine(from, to, part) };
            }
            begin = end;
        }
        last
    }
}
impl From<OneCycle> for Schedule {
    fn from(cycle: OneCycle) -> Self {
        Part::OneCycle(cycle).into()
    }
}

/// Lowers the rate when a measure no longer gets better (`ReduceLROnPlateau`). It has state, and is saved and loaded as a [`Module`](crate::Module).
///
/// ```
/// use castiron::optim::Plateau;
/// let mut plateau = Plateau::new(0.1).factor(0.5).patience(1);
/// let rates = [3.0, 2.0, 2.0, 2.5, 2.2].map(|loss| plateau.next(loss));
/// assert_eq!(rates, [0.1, 0.1, 0.1, 0.05, 0.05]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    rate: f64,
    factor: f64,
    patience: i64,
    threshold: f64,
    cooldown: i64,
    least: f64,
    eps: f64,
    rising: bool,
    absolute: bool,
    best: f64,
    bad: i64,
    cooling: i64,
}

impl Plateau {
    /// Starts with this rate.
    pub fn new(rate: f64) -> Self {
        Plateau {
            rate,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            cooldown: 0,
            least: 0.0,
            eps: 1e-8,
            rising: false,
            absolute: false,
            best: f64::INFINITY,
            bad: 0,
            cooling: 0,
        }
    }
    /// What the rate is multiplied by, 0.1 if not given (`factor`).
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }
    /// How many measures in a row may be no better, 10 if not given (`patience`).
    pub fn patience(mut self, count: u32) -> Self {
        self.patience = count.into();
        self
    }
    /// By what part a measure must be better than the best, 0.0001 if not given (`threshold`).
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }
    /// The threshold is a difference, and no part of the best (`threshold_mode="abs"`).
    pub fn absolute(mut self) -> Self {
        self.absolute = true;
        self
    }
    /// How many measures are ignored after the rate was lowered (`cooldown`).
    pub fn cooldown(mut self, count: u32) -> Self {
        self.cooldown = count.into();
        self
    }
    /// The smallest rate (`min_lr`).
    pub fn least(mut self, rate: f64) -> Self {
        self.least = rate;
        self
    }
    /// Larger measures are better (`mode="max"`).
    pub fn rising(mut self) -> Self {
        (self.rising, self.best) = (true, f64::NEG_INFINITY);
        self
    }
    /// The rate now.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Takes a measure, such as the loss of an epoch, and gives the rate from now on.
    pub fn next(&mut self, measure: f64) -> f64 {
        let bound = match (self.rising, self.absolute) {
            (false, false) => self.best * (1.0 - self.threshold),
            (true, false) => self.best * (1.0 + self.threshold),
            (false, true) => self.best - self.threshold,
            (true, true) => self.best + self.threshold,
        };
        if if self.rising { measure > bound } else { measure < bound } {
            (self.best, self.bad) = (measure, 0);
        } else {
            self.bad += 1;
        }
        if self.cooling > 0 {
            (self.cooling, self.bad) = (self.cooling - 1, 0);
        }
        if self.bad > self.patience {
            let rate = (self.rate * self.factor).max(self.least);
            if self.rate - rate > self.eps {
                self.rate = rate;
            }
            (self.cooling, self.bad) = (self.cooldown, 0);
        }
        self.rate
    }
}

numbers_module!(Plateau { rate factor patience threshold cooldown least eps rising absolute best bad cooling });
