//! L-BFGS. Source: `torch/optim/lbfgs.py`.

use super::{driver, sharing};
use crate::Module;
use crate::cpu::stepping::Total;
use crate::device::Device;
use crate::dtype::Float;
use crate::error::{Result, invalid};
use crate::io::numbers_module;
use crate::io::{Listing, ListingMut, Place};
use crate::tensor::Tensor;
use castiron_macros::fallible;
use std::rc::Rc;

/// What a function that is minimised gives: a number, or a zero-dim tensor.
pub trait Loss {
    /// The number.
    ///
    /// # Errors
    /// If it can't be read from its device.
    fn number(&self) -> Result<f64>;
}
impl Loss for f64 {
    fn number(&self) -> Result<f64> {
        Ok(*self)
    }
}
impl Loss for f32 {
    fn number(&self) -> Result<f64> {
        Ok(f64::from(*self))
    }
}
impl<E: Float, D: Device> Loss for Tensor<E, (), D> {
    fn number(&self) -> Result<f64> {
        Ok(self.try_item()?.cast())
    }
}

/// L-BFGS: steps along an approximation of Newton's direction, which is made of the last gradients (`torch.optim.LBFGS`). Each step calls a
/// function that gives the loss and its gradients, several times.
///
/// ```
/// use castiron::{optim::Lbfgs, tensor};
/// // The minimum of (x - 3)² + 10 (y + 1)².
/// let mut point = tensor![0.0, 0.0; f64];
/// let (centre, width) = (tensor![3.0, -1.0; f64], tensor![1.0, 10.0; f64]);
/// let mut lbfgs = Lbfgs::new(&point).strong_wolfe();
/// lbfgs.step(&mut point, |point| {
///     let away = point - &centre;
///     ((&away * &away * &width).sum(), &away * &width * 2.0)
/// });
/// assert!(point.isclose(&centre, 1e-6, 1e-8, false).all().item());
/// ```
///
/// It is saved and loaded as a [`Module`], with its history.
#[derive(Clone, Debug)]
pub struct Lbfgs<P> {
    options: LbfgsOptions,
    course: Course,
    /// The direction of the last iteration.
    direction: Option<P>,
    gradient_before: Option<P>,
    /// Differences of gradients, and of parameters.
    differences: Vec<P>,
    moves: Vec<P>,
    /// One over the products of each two of them.
    inverses: Vec<f64>,
}

/// The numbers that are carried from step to step.
#[derive(Clone, Debug, PartialEq)]
struct Course {
    /// How far the last direction was followed (`t`).
    length: f64,
    /// The first approximation of the inverse Hessian (`H_diag`).
    diagonal: f64,
    loss_before: f64,
    evaluations: i64,
    iterations: i64,
}

/// The options of [`Lbfgs`].
#[derive(Clone, Debug, PartialEq)]
pub struct LbfgsOptions {
    /// The learning rate: how much of the direction is tried first (`lr`).
    pub rate: f64,
    /// The most iterations in a step (`max_iter`).
    pub max_iter: i64,
    /// The most calls of the function in a step; below 0: five quarters of `max_iter` (`max_eval`).
    pub max_eval: i64,
    /// A step ends where no element of the gradient is larger (`tolerance_grad`).
    pub tolerance_grad: f64,
    /// A step ends where neither the parameters nor the loss change by more (`tolerance_change`).
    pub tolerance_change: f64,
    /// How many gradients are kept (`history_size`).
    pub history_size: i64,
    /// Looks for a length by which the strong Wolfe conditions hold (`line_search_fn="strong_wolfe"`).
    pub strong_wolfe: bool,
}
impl Default for LbfgsOptions {
    fn default() -> Self {
        LbfgsOptions {
            rate: 1.0,
            max_iter: 20,
            max_eval: -1,
            tolerance_grad: 1e-7,
            tolerance_change: 1e-9,
            history_size: 100,
            strong_wolfe: false,
        }
    }
}

const OP: &str = "Lbfgs";

/// Modules as vectors.
fn dot(a: &impl Module, b: &impl Module) -> Result<f64> {
    driver::total(OP, Total::Dot, Listing::of(a), Some(Listing::of(b)))
}
fn largest(a: &impl Module) -> Result<f64> {
    driver::total(OP, Total::Largest, Listing::of(a), None)
}
fn scaled<P: Module>(a: &P, by: f64) -> Result<P> {
    let mut product = sharing(OP, a)?;
    driver::scale(OP, ListingMut::of_module(&mut product), by)?;
    Ok(product)
}
fn add<P: Module>(to: &mut P, a: &P, by: f64) -> Result<()> {
    driver::add(OP, ListingMut::of_module(to), Listing::of(a), by)
}

impl<P: Module> Lbfgs<P> {
    /// An optimiser of the parameters of a module, with PyTorch's default options.
    pub fn new(_parameters: &P) -> Self {
        Lbfgs {
            options: LbfgsOptions::default(),
            course: Course { length: 0.0, diagonal: 1.0, loss_before: 0.0, evaluations: 0, iterations: 0 },
            direction: None,
            gradient_before: None,
            differences: Vec::new(),
            moves: Vec::new(),
            inverses: Vec::new(),
        }
    }
    /// The learning rate (`lr`), 1 if not given.
    pub fn rate(mut self, rate: f64) -> Self {
        self.options.rate = rate;
        self
    }
    /// The most iterations in a step, 20 if not given (`max_iter`).
    pub fn max_iter(mut self, count: u32) -> Self {
        self.options.max_iter = count.into();
        self
    }
    /// The most calls of the function in a step (`max_eval`), five quarters of the iterations if not given.
    pub fn max_eval(mut self, count: u32) -> Self {
        self.options.max_eval = count.into();
        self
    }
    /// A step ends where no element of the gradient is larger (`tolerance_grad`), 1e-7 if not given.
    pub fn tolerance_grad(mut self, tolerance: f64) -> Self {
        self.options.tolerance_grad = tolerance;
        self
    }
    /// A step ends where neither parameters nor loss change by more (`tolerance_change`), 1e-9 if not given.
    pub fn tolerance_change(mut self, tolerance: f64) -> Self {
        self.options.tolerance_change = tolerance;
        self
    }
    /// How many gradients are kept (`history_size`), 100 if not given.
    pub fn history_size(mut self, count: u32) -> Self {
        self.options.history_size = count.into();
        self
    }
    /// Looks along each direction for a length by which the strong Wolfe conditions hold (`line_search_fn="strong_wolfe"`).
    pub fn strong_wolfe(mut self) -> Self {
        self.options.strong_wolfe = true;
        self
    }
    /// Sets the learning rate.
    pub fn set_rate(&mut self, rate: f64) {
        self.options.rate = rate;
    }
    /// The options.
    pub fn options(&self) -> &LbfgsOptions {
        &self.options
    }
    /// How often the function was called.
    pub fn evaluations(&self) -> u64 {
        self.course.evaluations.unsigned_abs()
    }

    /// Minimises a function for some iterations, and gives its value at the start. The function gets the parameters and gives the loss and
    /// the gradients (`torch.optim.LBFGS.step`).
    ///
    /// # Panics
    /// If an option is not a number, the gradients have tensors of other sizes than the parameters, or memory runs out.
    #[fallible]
    pub fn step<L: Loss>(&mut self, parameters: &mut P, function: impl FnMut(&P) -> (L, P)) -> Result<f64> {
        let mut function = function;
        let mut evaluated = |at: &P| -> Result<(f64, P)> {
            let (loss, gradient) = function(at);
            Ok((loss.number()?, gradient))
        };
        let LbfgsOptions { rate, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, strong_wolfe } =
            self.options;
        if !(0.0..).contains(&rate) {
            return invalid(OP, format!("rate is {rate}, which is not in 0.0.."));
        }
        let max_eval = if max_eval < 0 { max_iter.saturating_mul(5) / 4 } else { max_eval };
        let (first_loss, mut gradient) = evaluated(parameters)?;
        let mut loss = first_loss;
        let mut evaluations = 1;
        self.course.evaluations += 1;
        if largest(&gradient)? <= tolerance_grad {
            return Ok(first_loss);
        }
        let mut iteration = 0;
        while iteration < max_iter {
            iteration += 1;
            self.course.iterations += 1;
            let direction = self.next_direction(&gradient, history_size)?;
            let before = self.gradient_before.insert(sharing(OP, &gradient)?);
            self.course.loss_before = loss;
            let mut length = rate;
            if self.course.iterations == 1 {
                let size = driver::total(OP, Total::Magnitudes, Listing::of(before), None)?;
                length = (1.0 / size).min(1.0) * rate;
            }
            let slope = dot(before, &direction)?;
            self.course.length = length;
            let direction = self.direction.insert(direction);
            if slope > -tolerance_change {
                break;
            }
            let is_flat;
            if strong_wolfe {
                let start = sharing(OP, parameters)?;
                let back =
                    |parameters: &mut P| driver::assign(OP, ListingMut::of_module(parameters), Listing::of(&start));
                let line = |length: f64| {
                    let moved = add(parameters, direction, length).and_then(|()| evaluated(parameters));
                    back(parameters)?;
                    let (loss, gradient) = moved?;
                    let slope = dot(&gradient, direction)?;
                    Ok(Found { length, loss, gradient: Rc::new(gradient), slope })
                };
                let here = Found { length: 0.0, loss, gradient: Rc::new(gradient), slope };
                let (found, calls) =
                    search(line, here, length, largest(direction)?, tolerance_change, max_eval - evaluations)?;
                (length, loss) = (found.length, found.loss);
                gradient = sharing(OP, &*found.gradient)?;
                add(parameters, direction, length)?;
                is_flat = largest(&gradient)? <= tolerance_grad;
                evaluations += calls;
                self.course.evaluations += calls;
            } else {
                add(parameters, direction, length)?;
                if iteration == max_iter {
                    // (The gradient there is asked for at the start of the next step.)
                    break;
                }
                (loss, gradient) = evaluated(parameters)?;
                is_flat = largest(&gradient)? <= tolerance_grad;
                evaluations += 1;
                self.course.evaluations += 1;
            }
            self.course.length = length;
            let moved = length.abs() * largest(direction)?;
            let is_still = moved <= tolerance_change || (loss - self.course.loss_before).abs() < tolerance_change;
            if iteration == max_iter || evaluations >= max_eval || is_flat || is_still {
                break;
            }
        }
        Ok(first_loss)
    }

    /// Takes the difference from the last gradient into the history, and gives the next direction.
    fn next_direction(&mut self, gradient: &P, history_size: i64) -> Result<P> {
        let (Some(direction), Some(before)) = (&self.direction, &self.gradient_before) else {
            return scaled(gradient, -1.0);
        };
        let mut difference = sharing(OP, gradient)?;
        add(&mut difference, before, -1.0)?;
        let moved = scaled(direction, self.course.length)?;
        let product = dot(&difference, &moved)?;
        if product > 1e-10 {
            self.course.diagonal = product / dot(&difference, &difference)?;
            if self.differences.len() as i64 >= history_size && !self.differences.is_empty() {
                self.differences.remove(0);
                self.moves.remove(0);
                self.inverses.remove(0);
            }
            self.differences.push(difference);
            self.moves.push(moved);
            self.inverses.push(1.0 / product);
        }
        let mut direction = scaled(gradient, -1.0)?;
        let history = || self.moves.iter().zip(&self.differences).zip(&self.inverses);
        let mut weights = Vec::with_capacity(self.moves.len());
        for ((moved, difference), inverse) in history().rev() {
            let weight = dot(moved, &direction)? * inverse;
            add(&mut direction, difference, -weight)?;
            weights.push(weight);
        }
        driver::scale(OP, ListingMut::of_module(&mut direction), self.course.diagonal)?;
        for (((moved, difference), inverse), weight) in history().zip(weights.into_iter().rev()) {
            let other = dot(difference, &direction)? * inverse;
            add(&mut direction, moved, weight - other)?;
        }
        Ok(direction)
    }
}

/// A point along a direction.
struct Found<P> {
    length: f64,
    loss: f64,
    gradient: Rc<P>,
    slope: f64,
}

impl<P> Clone for Found<P> {
    fn clone(&self) -> Self {
        Found { gradient: self.gradient.clone(), ..*self }
    }
}

/// The minimum of the cubic through two points, between two bounds.
fn cubic<P>(one: &Found<P>, other: &Found<P>, bounds: Option<[f64; 2]>) -> f64 {
    let (x1, x2) = (one.length, other.length);
    let [low, high] = bounds.unwrap_or(if x1 <= x2 { [x1, x2] } else { [x2, x1] });
    let d1 = one.slope + other.slope - 3.0 * (one.loss - other.loss) / (x1 - x2);
    let square = d1 * d1 - one.slope * other.slope;
    // (NaN has no root, either.)
    let d2 = square.sqrt();
    if d2.is_nan() {
        return (low + high) / 2.0;
    }
    let at = if x1 <= x2 {
        x2 - (x2 - x1) * ((other.slope + d2 - d1) / (other.slope - one.slope + 2.0 * d2))
    } else {
        x1 - (x1 - x2) * ((one.slope + d2 - d1) / (one.slope - other.slope + 2.0 * d2))
    };
    let at = if low > at { low } else { at };
    if high < at { high } else { at }
}

/// A length by which the strong Wolfe conditions hold, if one is found within a number of calls, and the number of calls that were made.
fn search<P>(
    mut line: impl FnMut(f64) -> Result<Found<P>>,
    start: Found<P>,
    length: f64,
    size: f64,
    tolerance: f64,
    most: i64,
) -> Result<(Found<P>, i64)> {
    const FALLS: f64 = 1e-4;
    const FLATTER: f64 = 0.9;
    let rises = |of: &Found<P>| of.loss > start.loss + FALLS * of.length * start.slope;
    let is_flat = |of: &Found<P>| of.slope.abs() <= -FLATTER * start.slope;
    let mut new = line(length)?;
    let (mut before, mut calls, mut looks) = (start.clone(), 1, 0);
    // Two points with one that fulfils the conditions between them; or one that does.
    let mut bracket = None;
    while looks < most {
        if rises(&new) || (looks > 1 && new.loss >= before.loss) || new.slope >= 0.0 && !is_flat(&new) {
            bracket = Some([before, new.clone()]);
            break;
        }
        if is_flat(&new) {
            return Ok((new, calls));
        }
        let bounds = [new.length + 0.01 * (new.length - before.length), new.length * 10.0];
        let next = cubic(&before, &new, Some(bounds));
        before = core::mem::replace(&mut new, line(next)?);
        (calls, looks) = (calls + 1, looks + 1);
    }
    let mut ends = bracket.unwrap_or([start.clone(), new]);
    let order = |ends: &[Found<P>; 2]| if ends[0].loss <= ends[1].loss { [0, 1] } else { [1, 0] };
    let [mut low, mut high] = order(&ends);
    let mut was_slow = false;
    let mut done = false;
    while !done && looks < most {
        let (least, greatest) = (ends[0].length.min(ends[1].length), ends[0].length.max(ends[1].length));
        if (greatest - least) * size < tolerance {
            break;
        }
        let mut at = cubic(&ends[0], &ends[1], None);
        let margin = 0.1 * (greatest - least);
        let is_near = (greatest - at).min(at - least) < margin;
        if is_near && (was_slow || at >= greatest || at <= least) {
            at = if (at - greatest).abs() < (at - least).abs() { greatest - margin } else { least + margin };
            was_slow = false;
        } else {
            was_slow = is_near;
        }
        let new = line(at)?;
        (calls, looks) = (calls + 1, looks + 1);
        if rises(&new) || new.loss >= ends[low].loss {
            ends[high] = new;
            [low, high] = order(&ends);
        } else {
            if is_flat(&new) {
                done = true;
            } else if new.slope * (ends[high].length - ends[low].length) >= 0.0 {
                ends[high] = ends[low].clone();
            }
            ends[low] = new;
        }
    }
    let [one, other] = ends;
    Ok((if low == 0 { one } else { other }, calls))
}

numbers_module!(LbfgsOptions { rate max_iter max_eval tolerance_grad tolerance_change history_size strong_wolfe });
numbers_module!(Course { length diagonal loss_before evaluations iterations });

impl<P: Module> Module for Lbfgs<P> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let before =
            initial.map(|it| (it.options, it.course, it.direction, it.gradient_before, it.differences, it.moves));
        let (options, course, direction, gradient, differences, moves) = match before {
            Some((options, course, direction, gradient, differences, moves)) => {
                (Some(options), Some(course), Some(direction), Some(gradient), Some(differences), Some(moves))
            }
            None => (None, None, None, None, None, None),
        };
        // All is read before a failure is returned, to collect all differences.
        let options = LbfgsOptions::read(&place.field("options"), options);
        let course = Course::read(&place.field("course"), course);
        let direction = <Option<P> as Module>::read(&place.field("d").state(), direction);
        let gradient_before = <Option<P> as Module>::read(&place.field("prev_flat_grad").state(), gradient);
        let differences = <Vec<P> as Module>::read(&place.field("old_dirs").state(), differences);
        let moves = <Vec<P> as Module>::read(&place.field("old_stps").state(), moves);
        let (differences, moves) = (differences?, moves?);
        if differences.len() != moves.len() {
            place.differs("it has not as many differences of gradients as of parameters");
            return None;
        }
        // (The same bits as before: the products are of the same elements.)
        let inverses = differences.iter().zip(&moves).map(|(one, other)| Some(1.0 / dot(one, other).ok()?));
        let inverses = inverses.collect::<Option<_>>()?;
        let (options, course) = (options?, course?);
        let (direction, gradient_before) = (direction?, gradient_before?);
        Some(Lbfgs { options, course, direction, gradient_before, differences, moves, inverses })
    }

    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        listing.field("options", &self.options);
        listing.field("course", &self.course);
        listing.field_unfrozen("d", &self.direction);
        listing.field_unfrozen("prev_flat_grad", &self.gradient_before);
        listing.field_unfrozen("old_dirs", &self.differences);
        listing.field_unfrozen("old_stps", &self.moves);
    }
}
