//! Updates of parameters by gradients: the formula of one element, written once over `Number`. Loops of the host read it as numbers,
//! other devices as a list of instructions.

use core::cell::RefCell;
use core::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;

/// The most lists of state that an update reads and writes beside the parameter.
pub(crate) const MOST_STATES: usize = 3;

/// What a formula takes besides elements: numbers that are the same for all of them. What each is, the formula says.
pub(crate) type Numbers = [f64; 12];

/// What formulas compute with.
pub(crate) trait Number:
    Clone
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The square root.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The larger of two; NaN if one of them is.
    fn larger(self, other: Self) -> Self;
    /// Between two bounds; NaN stays.
    fn clamped(self, low: f64, high: f64) -> Self;
    /// `self + weight * (end - self)`, for weights below and above one half as PyTorch computes it.
    #[inline(always)]
    fn lerp(self, end: Self, weight: f64) -> Self {
        let way = end.clone() - self.clone();
        if weight < 0.5 { self + way * weight } else { end - way * (1.0 - weight) }
    }
    /// The product with itself.
    #[inline(always)]
    fn squared(self) -> Self {
        self.clone() * self
    }
}

/// An update of a parameter by its gradient, with `K` numbers of state for each element.
pub(crate) trait Update<const K: usize>: 'static {
    /// The parameter and its state after the update.
    fn update<N: Number>(parameter: N, gradient: N, states: [N; K], numbers: &Numbers) -> (N, [N; K]);
}

/// A floating-point number that formulas compute with.
#[derive(Clone, Copy)]
pub(crate) struct Plain<F>(pub(crate) F);

macro_rules! plain_operators {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl<F: num_traits::Float> $trait for Plain<F> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Plain(self.0 $op other.0)
            }
        }
    )*};
}
plain_operators!(Add add +, Sub sub -, Mul mul *, Div div /);
/// Converts a number that is the same for all elements. (Every `f64` is some `f32`, if rounded.)
#[inline(always)]
fn rounded<F: num_traits::Float>(number: f64) -> F {
    F::from(number).unwrap_or_else(F::nan)
}
macro_rules! plain_by_scalar {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl<F: num_traits::Float> $trait<f64> for Plain<F> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Plain(self.0 $op rounded::<F>(other))
            }
        }
    )*};
}
plain_by_scalar!(Add add +, Mul mul *, Div div /);
impl<F: num_traits::Float> Neg for Plain<F> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Plain(-self.0)
    }
}
impl<F: num_traits::Float> Number for Plain<F> {
    #[inline(always)]
    fn sqrt(self) -> Self {
        Plain(self.0.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Plain(self.0.abs())
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // (If the first is NaN, neither holds, and it stays.)
        if other.0.is_nan() | (other.0 > self.0) { other } else { self }
    }
    #[inline(always)]
    fn clamped(self, low: f64, high: f64) -> Self {
        let (low, high) = (rounded::<F>(low), rounded::<F>(high));
        let above = if self.0 < low { low } else { self.0 };
        Plain(if above > high { high } else { above })
    }
}

/// An operation of a [`Program`] on registers, whose result is the next register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    Neg(usize),
    Abs(usize),
    Sqrt(usize),
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, usize),
    Div(usize, usize),
    Larger(usize, usize),
    Plus(usize, f64),
    Times(usize, f64),
    Over(usize, f64),
    Clamped(usize, f64, f64),
}

/// A formula as instructions. The first registers are the parameter, the gradient and the states.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) instructions: Vec<Instruction>,
    /// The registers of the new parameter and the new states.
    pub(crate) results: Vec<usize>,
}

impl Program {
    /// Records a formula with its numbers.
    pub(crate) fn of<U: Update<K>, const K: usize>(numbers: &Numbers) -> Program {
        let list = Rc::new(RefCell::new(Vec::new()));
        let register = |at| Recorded { at, inputs: 2 + K, list: list.clone() };
        let states = core::array::from_fn(|at| register(2 + at));
        let (parameter, states) = U::update(register(0), register(1), states, numbers);
        let results = core::iter::once(&parameter).chain(&states).map(|register| register.at).collect();
        Program { instructions: list.take(), results }
    }
}

/// A register of a program that is being recorded.
#[derive(Clone)]
struct Recorded {
    at: usize,
    inputs: usize,
    list: Rc<RefCell<Vec<Instruction>>>,
}

impl Recorded {
    fn then(self, instruction: Instruction) -> Self {
        self.list.borrow_mut().push(instruction);
        let at = self.inputs + self.list.borrow().len() - 1;
        Recorded { at, ..self }
    }
}
macro_rules! recorded_operators {
    ($($trait:ident $method:ident $instruction:ident $($by_scalar:ident)?;)*) => {$(
        impl $trait for Recorded {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                let instruction = Instruction::$instruction(self.at, other.at);
                self.then(instruction)
            }
        }
        $(impl $trait<f64> for Recorded {
            type Output = Self;
            fn $method(self, other: f64) -> Self {
                let instruction = Instruction::$by_scalar(self.at, other);
                self.then(instruction)
            }
        })?
    )*};
}
recorded_operators! {
    Add add Add Plus;
    Sub sub Sub;
    Mul mul Mul Times;
    Div div Div Over;
}
impl Neg for Recorded {
    type Output = Self;
    fn neg(self) -> Self {
        let instruction = Instruction::Neg(self.at);
        self.then(instruction)
    }
}
impl Number for Recorded {
    fn sqrt(self) -> Self {
        let instruction = Instruction::Sqrt(self.at);
        self.then(instruction)
    }
    fn abs(self) -> Self {
        let instruction = Instruction::Abs(self.at);
        self.then(instruction)
    }
    fn larger(self, other: Self) -> Self {
        let instruction = Instruction::Larger(self.at, other.at);
        self.then(instruction)
    }
    fn clamped(self, low: f64, high: f64) -> Self {
        let instruction = Instruction::Clamped(self.at, low, high);
        self.then(instruction)
    }
}

#[cfg(test)]
mod tests {
    use super::{Instruction, Number, Numbers, Plain, Program, Update};

    struct Leaky;
    impl Update<1> for Leaky {
        fn update<N: Number>(parameter: N, gradient: N, [sum]: [N; 1], numbers: &Numbers) -> (N, [N; 1]) {
            let sum = sum * numbers[0] + gradient.abs();
            (parameter - sum.clone().sqrt(), [sum])
        }
    }

    #[test]
    fn a_formula_is_computed_and_recorded() {
        let mut numbers = Numbers::default();
        numbers[0] = 0.5;
        let (parameter, [sum]) = Leaky::update(Plain(1.0_f32), Plain(-3.0), [Plain(2.0)], &numbers);
        assert_eq!((parameter.0, sum.0), (-1.0, 4.0));
        let program = Program::of::<Leaky, 1>(&numbers);
        use Instruction::*;
        assert_eq!(program.instructions, [Times(2, 0.5), Abs(1), Add(3, 4), Sqrt(5), Sub(0, 6)]);
        assert_eq!(program.results, [7, 5]);
    }

    #[test]
    fn nan_is_the_larger_and_stays_between_bounds() {
        let nan = Plain(f64::NAN);
        assert!(nan.larger(Plain(1.0)).0.is_nan() && Plain(1.0).larger(nan).0.is_nan());
        assert!(nan.clamped(-1.0, 1.0).0.is_nan() && Plain(3.0).clamped(-1.0, 1.0).0 == 1.0);
    }
}
