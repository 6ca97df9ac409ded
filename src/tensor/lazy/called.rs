//! Functions called in `fused!`: formulas of one's own become parts of the expression, functions of the host are called before.

use super::{Lazy, Node, OperandsBeside};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::ops::formula::{Formula, One, Three, Two};
use crate::shape::Shape;
use core::ops::Deref;

/// A function that `fused!` calls. Its method `call` is that of formulas where it is one, else that of functions of the host.
#[doc(hidden)]
pub struct Called<'a, F>(CalledOnHost<'a, F>);
#[doc(hidden)]
pub struct CalledOnHost<'a, F>(&'a F);

#[doc(hidden)]
pub fn called<F>(function: &F) -> Called<'_, F> {
    Called(CalledOnHost(function))
}
impl<F: Formula> Called<'_, F> {
    /// The formula as a part of an expression.
    pub fn call<A: Operands<F>>(&self, operands: A) -> A::Output {
        operands.apply(*self.0.0)
    }
}
/// Where `F` is no formula, method calls find the function of the host.
impl<'a, F> Deref for Called<'a, F> {
    type Target = CalledOnHost<'a, F>;
    fn deref(&self) -> &CalledOnHost<'a, F> {
        &self.0
    }
}
impl<F> CalledOnHost<'_, F> {
    /// What the function returns.
    pub fn call<A>(&self, arguments: A) -> F::Output
    where
        F: HostFunction<A>,
    {
        self.0.call_on_host(arguments)
    }
}

/// The operands of a formula in `fused!`, as a tuple: a tensor or an expression first, then tensors, expressions and scalars.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`fused!`: the formula `{F}` can't be called with `{Self}`",
    label = "the operands of `{F}` do not fit",
    note = "give a tensor or an expression first, then as many tensors, expressions or scalars as the formula has operands; they promote to a \
            floating-point dtype, and their shapes broadcast"
)]
pub trait Operands<F> {
    /// What it gives.
    type Output;
    /// The formula of them.
    fn apply(self, formula: F) -> Self::Output;
}
macro_rules! operands {
    ($($count:ident: ($($operand:ident $type:ident),*) as $all:ty = $tuple:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F: Formula<Operands = $count>, E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>, $($type),*> Operands<F>
            for (Lazy<E, S, D, X>, $($type,)*)
        where
            $all: OperandsBeside<$count, E, S, D>,
        {
            type Output = Lazy<
                <$all as OperandsBeside<$count, E, S, D>>::Elem,
                <$all as OperandsBeside<$count, E, S, D>>::Shape,
                D,
                <$all as OperandsBeside<$count, E, S, D>>::Node<F, X>,
            >;
            fn apply(self, formula: F) -> Self::Output {
                let (x, $($operand,)*) = self;
                x.apply(formula, $tuple)
            }
        }
    )*};
}
operands! {
    One: () as () = ();
    Two: (a A) as A = a;
    Three: (a A, b B) as (A, B) = (a, b);
}

/// A function of the host, called with a tuple of arguments.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`fused!`: the function can't be called with `{A}`",
    label = "neither a `#[formula]`, nor a function of such arguments",
    note = "what Rust computes before stands in braces: `{{ f(n + 1) }}`; a function of elements has `#[formula]` above it"
)]
pub trait HostFunction<A> {
    /// What it returns.
    type Output;
    /// Calls it.
    fn call_on_host(&self, arguments: A) -> Self::Output;
}
macro_rules! host_functions {
    ($(($($argument:ident $type:ident),*);)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F: Fn($($type),*) -> R, R, $($type),*> HostFunction<($($type,)*)> for F {
            type Output = R;
            fn call_on_host(&self, ($($argument,)*): ($($type,)*)) -> R {
                self($($argument),*)
            }
        }
    )*};
}
host_functions! {
    (a A);
    (a A, b B);
    (a A, b B, c C);
    (a A, b B, c C, d G);
}
