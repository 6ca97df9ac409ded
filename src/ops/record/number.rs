//! Numbers that record the steps applied to them. A formula generic over machine numbers runs on them unchanged.
//!
//! The part shared by all kinds; `floats` and `integers` implement the traits of formulas.

use super::graph::{Family, Id, Kind, Machine, Node, Step};
use super::paths::{ask, constant, decide, place, step};
use core::cmp::Ordering;
use core::marker::PhantomData;
use core::ops::{Add, Div, Mul, Rem, Sub};
use num_complex::Complex;
use num_traits::{Num, NumCast, One, ToPrimitive, Zero};

/// A number of kind `R` in the formula being recorded.
pub(crate) struct Recorded<R> {
    pub(super) id: Id,
    of: PhantomData<fn() -> R>,
}
impl<R> Clone for Recorded<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Recorded<R> {}
impl<R> core::fmt::Debug for Recorded<R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", self.id)
    }
}

/// The nodes of numbers.
pub(super) fn ids_of<R>(numbers: &[Recorded<R>]) -> Vec<Id> {
    numbers.iter().map(|number| number.id).collect()
}

/// The name of a row's function.
pub(super) fn row_name<F>(which: &str, number: &str) -> String {
    let whole = core::any::type_name::<F>();
    format!("row{which}_{}_{number}", whole.rsplit("::").next().unwrap_or(whole))
}

impl<R: Machine> Recorded<R> {
    pub(super) const fn at(id: Id) -> Self {
        Recorded { id, of: PhantomData }
    }
    pub(super) fn constant(value: R) -> Self {
        Self::at(place(Node::Constant(value.bits(), R::KIND)))
    }
    pub(super) fn argument(at: usize) -> Self {
        Self::at(place(Node::Argument(at, R::KIND)))
    }
    pub(super) fn step<const N: usize>(
        family: Family,
        name: &'static str,
        operands: [Id; N],
        run: fn(&[u64]) -> u64,
    ) -> Self {
        Self::at(step(Step::new(family, name, run), &operands, R::KIND))
    }
    /// A step that may be differentiated.
    pub(super) fn differentiable<const N: usize>(
        family: Family,
        name: &'static str,
        operands: [Id; N],
        run: fn(&[u64]) -> u64,
        dual: Option<OfDuals>,
    ) -> Self {
        #[cfg(not(feature = "grad"))]
        let (None, made) = (dual, Step::new(family, name, run));
        #[cfg(feature = "grad")]
        let made = Step { dual, ..Step::new(family, name, run) };
        Self::at(step(made, &operands, R::KIND))
    }
    /// The value, if it is a constant.
    pub(super) fn known(self) -> Option<R> {
        constant(self.id).map(R::of_bits)
    }
    /// The same where the caller needs the value: if there is none, the need is noted and the recording fails.
    pub(super) fn value(self, what: &'static str) -> Option<R> {
        let known = self.known();
        if known.is_none() {
            ask(what);
        }
        known
    }
}

/// `recorded!(Basic "floor" f32: x => |x| x.floor())`: a step with this name, and its function on machine numbers. The kind of its result
/// follows `->` if it differs from that of the operands; the step on dual numbers follows `;` if it is differentiable.
macro_rules! recorded {
    ($family:ident $name:expr, $ty:ty: $x:expr => $run:expr) => {
        recorded!($family $name, $ty: $x => $run, -> $ty)
    };
    ($family:ident $name:expr, $ty:ty: $x:expr => $run:expr, -> $result:ty) => {
        Recorded::<$result>::step(Family::$family, $name, [$x.id], |v| {
            let run: fn($ty) -> $result = $run;
            Machine::bits(run(<$ty as Machine>::of_bits(v[0])))
        })
    };
    ($family:ident $name:expr, $ty:ty: $x:expr, $y:expr => $run:expr) => {
        recorded!($family $name, $ty: $x, $y => $run, -> $ty)
    };
    ($family:ident $name:expr, $ty:ty: $x:expr, $y:expr => $run:expr, -> $result:ty) => {
        Recorded::<$result>::step(Family::$family, $name, [$x.id, $y.id], |v| {
            let run: fn($ty, $ty) -> $result = $run;
            Machine::bits(run(<$ty as Machine>::of_bits(v[0]), <$ty as Machine>::of_bits(v[1])))
        })
    };
    ($family:ident $name:expr, $ty:ident: $x:expr => $run:expr; |$v:ident| $dual:expr) => {
        Recorded::<$ty>::differentiable(
            Family::$family,
            $name,
            [$x.id],
            |v| {
                let run: fn($ty) -> $ty = $run;
                Machine::bits(run(<$ty as Machine>::of_bits(v[0])))
            },
            duals!($ty |$v| $dual),
        )
    };
    ($family:ident $name:expr, $ty:ident: $x:expr, $y:expr => $run:expr; |$v:ident| $dual:expr) => {
        Recorded::<$ty>::differentiable(
            Family::$family,
            $name,
            [$x.id, $y.id],
            |v| {
                let run: fn($ty, $ty) -> $ty = $run;
                Machine::bits(run(<$ty as Machine>::of_bits(v[0]), <$ty as Machine>::of_bits(v[1])))
            },
            duals!($ty |$v| $dual),
        )
    };
}
pub(super) use recorded;

/// A step on dual numbers, or a part, where there are any.
#[cfg(feature = "grad")]
macro_rules! duals {
    (part f64 |$v:ident| $dual:expr) => {
        Some((|$v| $dual) as PartOfDuals)
    };
    (part $other:ident |$v:ident| $dual:expr) => {
        None
    };
    (f64 |$v:ident| $dual:expr) => {
        Some((|$v| $dual) as OfDuals)
    };
    ($other:ident |$v:ident| $dual:expr) => {
        None
    };
}
#[cfg(not(feature = "grad"))]
macro_rules! duals {
    (part $ty:ident |$v:ident| $dual:expr) => {
        None
    };
    ($ty:ident |$v:ident| $dual:expr) => {
        None
    };
}
pub(super) use duals;
/// Nothing is differentiated.
#[cfg(not(feature = "grad"))]
pub(super) type OfDuals = core::convert::Infallible;
#[cfg(not(feature = "grad"))]
pub(super) type PartOfDuals = core::convert::Infallible;
#[cfg(feature = "grad")]
pub(super) use super::graph::{OfDuals, PartOfDuals};

/// An argument of a recorded formula: a number, two as a complex number, or a bool, for which both values are tried.
pub(super) trait Operand: Sized {
    /// The kinds of its numbers.
    const KINDS: &'static [Kind];
    /// The arguments from this index on.
    fn arguments(at: usize) -> Self;
    /// As results.
    fn ids(self) -> Vec<Id>;
}
impl<R: Machine> Operand for Recorded<R> {
    const KINDS: &'static [Kind] = &[R::KIND];
    fn arguments(at: usize) -> Self {
        Recorded::argument(at)
    }
    fn ids(self) -> Vec<Id> {
        vec![self.id]
    }
}
impl<R: Machine> Operand for Complex<Recorded<R>> {
    const KINDS: &'static [Kind] = &[R::KIND, R::KIND];
    fn arguments(at: usize) -> Self {
        Complex { re: Recorded::argument(at), im: Recorded::argument(at + 1) }
    }
    fn ids(self) -> Vec<Id> {
        vec![self.re.id, self.im.id]
    }
}
impl Operand for bool {
    const KINDS: &'static [Kind] = &[Kind::Bool];
    fn arguments(at: usize) -> bool {
        decide(Recorded::<bool>::argument(at).id)
    }
    fn ids(self) -> Vec<Id> {
        vec![Recorded::constant(self).id]
    }
}

macro_rules! arithmetic {
    ($($ty:ident: $add:ident $sub:ident $mul:ident $div:ident $rem:literal;)*) => {$(
        arithmetic! { @operator $ty: Add add "+" $add, Sub sub "-" $sub, Mul mul "*" $mul, Div div "/" $div }
        impl Rem for Recorded<$ty> {
            type Output = Self;
            fn rem(self, other: Self) -> Self {
                recorded!(Basic $rem, $ty: self, other => |a, b| a % b; |v| v[0] % v[1])
            }
        }
        impl Default for Recorded<$ty> {
            fn default() -> Self {
                Self::constant(<$ty>::default())
            }
        }
        impl PartialEq for Recorded<$ty> {
            fn eq(&self, other: &Self) -> bool {
                decide(recorded!(Operator "==", $ty: self, other => |a, b| a == b, -> bool).id)
            }
        }
        // Floats have no total order, and integers implement the same traits.
        #[allow(clippy::non_canonical_partial_ord_impl)]
        impl PartialOrd for Recorded<$ty> {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                if self < other {
                    Some(Ordering::Less)
                } else if self == other {
                    Some(Ordering::Equal)
                } else if self > other {
                    Some(Ordering::Greater)
                } else {
                    None
                }
            }
            fn lt(&self, other: &Self) -> bool {
                decide(recorded!(Operator "<", $ty: self, other => |a, b| a < b, -> bool).id)
            }
            fn le(&self, other: &Self) -> bool {
                decide(recorded!(Operator "<=", $ty: self, other => |a, b| a <= b, -> bool).id)
            }
            fn gt(&self, other: &Self) -> bool {
                other < self
            }
            fn ge(&self, other: &Self) -> bool {
                other <= self
            }
        }
        impl Zero for Recorded<$ty> {
            fn zero() -> Self {
                Self::constant(0 as $ty)
            }
            fn is_zero(&self) -> bool {
                *self == Self::zero()
            }
        }
        impl One for Recorded<$ty> {
            fn one() -> Self {
                Self::constant(1 as $ty)
            }
        }
        impl Num for Recorded<$ty> {
            type FromStrRadixErr = <$ty as Num>::FromStrRadixErr;
            fn from_str_radix(digits: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
                <$ty as Num>::from_str_radix(digits, radix).map(Self::constant)
            }
        }
        impl ToPrimitive for Recorded<$ty> {
            fn to_i64(&self) -> Option<i64> {
                self.value("to_i64")?.to_i64()
            }
            fn to_u64(&self) -> Option<u64> {
                self.value("to_u64")?.to_u64()
            }
            fn to_f64(&self) -> Option<f64> {
                self.value("to_f64")?.to_f64()
            }
        }
        impl NumCast for Recorded<$ty> {
            fn from<T: ToPrimitive>(number: T) -> Option<Self> {
                <$ty as NumCast>::from(number).map(Self::constant)
            }
        }
    )*};
    (@operator $ty:ident: $($trait:ident $method:ident $sign:literal $run:ident),*) => {$(
        impl $trait for Recorded<$ty> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                recorded!(Operator $sign, $ty: self, other => <$ty>::$run; |v| $trait::$method(v[0], v[1]))
            }
        }
    )*};
}
arithmetic! {
    f32: add sub mul div "fmod";
    f64: add sub mul div "fmod";
    u8: wrapping_add wrapping_sub wrapping_mul wrapping_div "remainder";
    i8: wrapping_add wrapping_sub wrapping_mul wrapping_div "remainder";
    i16: wrapping_add wrapping_sub wrapping_mul wrapping_div "remainder";
    i32: wrapping_add wrapping_sub wrapping_mul wrapping_div "remainder";
    i64: wrapping_add wrapping_sub wrapping_mul wrapping_div "remainder";
}
