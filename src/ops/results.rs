//! How many numbers formulas and reducers give, and what is done with each of them.

use super::formula::{Formula, Four, MOST, Number, One, Three, Two};
use crate::Result;
use crate::dtype::{Complex, MachineFloat, MachineInt};
use crate::sealed::Sealed;
use core::marker::PhantomData;

/// A formula that gives one number.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the formula `{Self}` gives several numbers, and one is needed here",
    label = "gives several numbers",
    note = "it is applied to a tensor, and gives a tuple of tensors: `let (a, b) = x.apply(formula, operands);`"
)]
pub trait SingleFormula: Formula<Results = One> {}
#[diagnostic::do_not_recommend]
impl<F: Formula<Results = One>> SingleFormula for F {}

/// What a formula that gives several numbers is a method of: tensors.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the formula gives several numbers, which are no part of an expression",
    label = "gives several numbers",
    note = "apply it to tensors first, and use what it gives: `let (a, b) = x.method(&y);`"
)]
pub trait OfTensors {}

/// How many numbers a formula gives.
pub trait Results: Sealed + 'static {
    /// One value for each of them: the value itself, or a tuple.
    type Of<T>;
    /// How many.
    const COUNT: usize;
    /// All of them.
    #[doc(hidden)]
    fn list<T>(all: Self::Of<T>) -> Vec<T>;
    #[doc(hidden)]
    fn pick<T>(all: Self::Of<T>, at: usize) -> T;
    /// All of them; `N` is their number.
    #[doc(hidden)]
    fn array<T: Copy, const N: usize>(all: Self::Of<T>) -> [T; N];
    /// What is done with each result, done with all.
    #[doc(hidden)]
    fn each<D: ForEachResult>(run: D) -> Result<Self::Of<D::Output>>;
}
/// What is done with each result of a formula or reducer.
#[doc(hidden)]
pub trait ForEachResult: Clone {
    /// What comes of it.
    type Output;
    /// Whether it is done with all results in one pass, by [`all`](Self::all).
    const AT_ONCE: bool = false;
    /// Does it.
    fn run<const AT: usize>(self) -> Result<Self::Output>;
    /// Does it with all `N` results.
    fn all<const N: usize>(self) -> Result<[Self::Output; N]> {
        unreachable!("results are computed one after another")
    }
}
impl Sealed for One {}
impl Results for One {
    type Of<T> = T;
    const COUNT: usize = 1;
    fn list<T>(all: T) -> Vec<T> {
        vec![all]
    }
    #[inline(always)]
    fn pick<T>(all: T, _: usize) -> T {
        all
    }
    #[inline(always)]
    fn array<T: Copy, const N: usize>(all: T) -> [T; N] {
        [all; N]
    }
    fn each<D: ForEachResult>(run: D) -> Result<D::Output> {
        run.run::<0>()
    }
}
macro_rules! results {
    ($($name:ident: $($T:ident $value:ident $at:literal),*;)*) => {$(
        impl crate::sealed::Sealed for $name {}
        impl Results for $name {
            type Of<T> = ($($T,)*);
            const COUNT: usize = [$($at),*].len();
            fn list<T>(($($value,)*): Self::Of<T>) -> Vec<T> {
                vec![$($value),*]
            }
            #[inline(always)]
            fn pick<T>(($($value,)*): Self::Of<T>, at: usize) -> T {
                let all = [$($value),*];
                all.into_iter().nth(at).unwrap_or_else(|| unreachable!("a formula has no such result"))
            }
            #[inline(always)]
            fn array<T: Copy, const N: usize>(($($value,)*): Self::Of<T>) -> [T; N] {
                let all = [$($value),*];
                let mut out = [all[0]; N];
                for at in 1..N {
                    out[at] = all[at];
                }
                out
            }
            fn each<D: ForEachResult>(run: D) -> Result<Self::Of<D::Output>> {
                if const { D::AT_ONCE } {
                    let [$($value),*] = run.all()?;
                    return Ok(($($value,)*));
                }
                Ok(($(run.clone().run::<$at>()?,)*))
            }
        }
    )*};
}
results! {
    Two: T a 0, T b 1;
    Three: T a 0, T b 1, T c 2;
    Four: T a 0, T b 1, T c 2, T d 3;
}
/// One of the results of a formula.
#[doc(hidden)]
pub struct ResultOf<F, const AT: usize>(PhantomData<fn() -> F>);
impl<F, const AT: usize> Clone for ResultOf<F, AT> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, const AT: usize> Copy for ResultOf<F, AT> {}
#[diagnostic::do_not_recommend]
impl<F: Formula, const AT: usize> Formula for ResultOf<F, AT> {
    type Operands = F::Operands;
    type Results = One;
    type Set = F::Set;
    type Kinds = F::Kinds;
    const NAME: &'static str = F::NAME;
    const ARGUMENTS: &'static [&'static str] = F::ARGUMENTS;
    const SIDE_BY_SIDE: bool = F::SIDE_BY_SIDE;
    #[inline(always)]
    fn of<T: MachineFloat>(x: [Number<T>; MOST]) -> Number<T> {
        F::Results::pick(F::of(x), AT)
    }
    #[inline(always)]
    fn of_integers<T: MachineInt>(x: [Number<T>; MOST]) -> Number<T> {
        F::Results::pick(F::of_integers(x), AT)
    }
    #[inline(always)]
    fn of_complex<T: MachineFloat>(x: [Number<Complex<T>>; MOST]) -> Number<Complex<T>> {
        F::Results::pick(F::of_complex(x), AT)
    }
    #[inline(always)]
    fn of_bools(x: [Number<bool>; MOST]) -> Number<bool> {
        F::Results::pick(F::of_bools(x), AT)
    }
    #[inline(always)]
    fn slope<T: MachineFloat>(by: usize, x: [Number<T>; MOST]) -> Option<Number<T>> {
        F::slope(by, x)
    }
}
