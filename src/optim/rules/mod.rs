//! The formulas of optimisers, a file each: options, state, and the update of one element. Sources: the files of the same names in
//! `torch/optim`, the functions `_single_tensor_…`.

mod adadelta;
mod adagrad;
mod adam;
mod adamax;
mod nadam;
mod radam;
mod rmsprop;
mod sgd;

pub use adadelta::{Adadelta, AdadeltaOptions};
pub use adagrad::{Adagrad, AdagradOptions};
pub use adam::{Adam, AdamOptions, AdamW, AdamWOptions};
pub use adamax::{Adamax, AdamaxOptions};
pub use nadam::{NAdam, NAdamOptions};
pub use radam::{RAdam, RAdamOptions};
pub use rmsprop::{RmsProp, RmsPropOptions};
pub use sgd::{Sgd, SgdOptions};

use crate::cpu::stepping::Stepper;
use crate::error::Result;
use crate::io::{Listing, Place};
use crate::ops::update::{Number, Numbers};
use crate::shape::Dyn;
use crate::tensor::Tensor;

/// An optimiser's formula and its options: [`AdamOptions`] and so on. Only castiron implements it.
pub trait Rule: Options + Clone + core::fmt::Debug + PartialEq + Default + 'static {
    /// The names of the tensors of state that it may have, as in PyTorch's `state_dict`.
    #[doc(hidden)]
    const STATES: &'static [&'static str];
    /// What to compute in a step. (Numbers that are carried from step to step are moved on.)
    #[doc(hidden)]
    fn plan(&mut self, at: &At) -> Plan;
    /// Checks options that depend on each other.
    #[doc(hidden)]
    fn check_together(&self) -> Result<()> {
        Ok(())
    }
    /// What its state starts with.
    #[doc(hidden)]
    fn start(&self) -> f64 {
        0.0
    }
}

/// Where an optimisation is.
#[doc(hidden)]
pub struct At {
    /// The number of this step, from 1 on.
    pub(crate) step: f64,
    /// Whether there was no state before this step.
    pub(crate) is_first: bool,
}

/// What a step computes.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Plan {
    pub(crate) stepper: Stepper,
    pub(crate) numbers: Numbers,
    /// The states that it has, by their places in [`Rule::STATES`].
    pub(crate) states: &'static [usize],
}

/// Options that are in a checkpoint. (Written by `options!`.)
#[doc(hidden)]
pub trait Options: Sized {
    fn rate_mut(&mut self) -> &mut f64;
    fn check(&self) -> Result<()>;
    fn list<'a>(&'a self, listing: &mut Listing<'a>);
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self>;
}

/// A list of whole numbers, in a checkpoint.
pub(super) type Whole = Tensor<i64, (Dyn,)>;

/// Writes options with their defaults and the range that each is checked for, and the methods of the optimiser that set them.
macro_rules! options {
    ($(#[$doc:meta])* $alias:ident, $(#[$options_doc:meta])* $name:ident in $op:literal {
        rate: f64 = $rate:literal,
        $($(#[$field_doc:meta])* $field:ident: $ty:ident = $default:literal $(in $range:expr)?,)*
    }) => {
        $(#[$doc])*
        pub type $alias<P> = crate::optim::Optimizer<$name, P>;

        $(#[$options_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            /// The learning rate (`lr`).
            pub rate: f64,
            $($(#[$field_doc])* pub $field: $ty,)*
        }
        impl Default for $name {
            fn default() -> Self {
                $name { rate: $rate, $($field: $default,)* }
            }
        }
        impl crate::optim::rules::Options for $name {
            fn rate_mut(&mut self) -> &mut f64 {
                &mut self.rate
            }
            fn check(&self) -> crate::Result<()> {
                crate::optim::rules::expect_in($op, "rate", self.rate, &(0.0..))?;
                $($(crate::optim::rules::expect_in($op, stringify!($field), self.$field, &($range))?;)?)*
                Ok(())
            }
            fn list<'a>(&'a self, listing: &mut crate::io::Listing<'a>) {
                crate::io::list_number(listing, "rate", &self.rate);
                $(crate::io::list_number(listing, stringify!($field), &self.$field);)*
            }
            fn read(place: &crate::io::Place<'_>, initial: Option<Self>) -> Option<Self> {
                use crate::io::StoredNumber;
                let rate = StoredNumber::read(&place.field("rate"), initial.as_ref().map(|it| it.rate));
                $(let $field = StoredNumber::read(&place.field(stringify!($field)), initial.as_ref().map(|it| it.$field));)*
                Some($name { rate: rate?, $($field: $field?,)* })
            }
        }
        impl<P: crate::Module> crate::optim::Optimizer<$name, P> {
            $(crate::optim::rules::setter!($(#[$field_doc])* $field: $ty);)*
        }
    };
}
/// Writes the method that sets an option.
macro_rules! setter {
    ($(#[$doc:meta])* $field:ident: f64) => {
        $(#[$doc])*
        pub fn $field(mut self, $field: f64) -> Self {
            self.options_mut().$field = $field;
            self
        }
    };
    ($(#[$doc:meta])* $field:ident: bool) => {
        $(#[$doc])*
        pub fn $field(mut self) -> Self {
            self.options_mut().$field = true;
            self
        }
    };
}
use {options, setter};

/// Checks that an option is within its range.
fn expect_in(op: &'static str, name: &str, value: f64, range: &dyn Range) -> Result<()> {
    if range.has(value) {
        return Ok(());
    }
    crate::error::invalid(op, format!("{name} is {value}, which is not in {}", range.text()))
}

/// A range of numbers of any kind.
trait Range {
    fn has(&self, value: f64) -> bool;
    fn text(&self) -> String;
}
impl<R: core::ops::RangeBounds<f64> + core::fmt::Debug> Range for R {
    fn has(&self, value: f64) -> bool {
        self.contains(&value)
    }
    fn text(&self) -> String {
        format!("{self:?}")
    }
}

/// The first numbers of most formulas: the sign of the gradient, the decay added to it, and the factor of the parameter.
fn prepared(maximize: bool, rate: f64, decay: f64, decoupled: bool) -> [f64; 3] {
    let sign = if maximize { -1.0 } else { 1.0 };
    if decoupled { [sign, 0.0, 1.0 - rate * decay] } else { [sign, decay, 1.0] }
}

/// The parameter and the gradient that a formula starts with.
#[inline(always)]
fn prepare<N: Number>(parameter: N, gradient: N, numbers: &Numbers) -> (N, N) {
    let [sign, decay, factor, ..] = *numbers;
    let mut gradient = if sign < 0.0 { -gradient } else { gradient };
    if decay != 0.0 {
        gradient = gradient + parameter.clone() * decay;
    }
    (if factor != 1.0 { parameter * factor } else { parameter }, gradient)
}

/// The running mean of squares, `value * beta + (1 - beta) * gradient²`.
#[inline(always)]
fn mean_of_squares<N: Number>(value: N, gradient: N, beta: f64, rest: f64) -> N {
    value * beta + gradient.clone() * rest * gradient
}

/// The numbers of a formula behind the first three.
fn numbers<const K: usize>(first: [f64; 3], rest: [f64; K]) -> Numbers {
    let mut all = Numbers::default();
    let own = first.into_iter().chain(rest);
    all.iter_mut().zip(own).for_each(|(to, number)| *to = number);
    all
}
