//! Functions called in `fused!`: formulas of one's own become parts of the expression, functions of the host are called before.

use super::{Begin, Lazy, Node, OperandsBeside};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::ops::formula::{Five, Formula, Four, Kinds, One, ResultOf, Six, Three, Two};
use crate::shape::Shape;
use core::cell::Cell;
use core::marker::PhantomData;

/// A lone argument of a function: a tensor becomes a part of the expression, a scalar stays what it is.
#[doc(hidden)]
pub struct Argument<'a, T>(&'a T);
#[doc(hidden)]
pub fn argument<T>(of: &T) -> Argument<'_, T> {
    Argument(of)
}
impl<'a, T> Argument<'a, T>
where
    &'a T: Begin,
{
    /// An operand.
    pub fn value(self) -> <&'a T as Begin>::Output {
        self.0.begin()
    }
}
/// Other arguments, which only functions of the host take: positions, text.
#[doc(hidden)]
pub trait OtherArgument<T> {
    /// A copy.
    fn value(self) -> T;
}
impl<T: Clone> OtherArgument<T> for Argument<'_, T> {
    fn value(self) -> T {
        self.0.clone()
    }
}

/// A function and the tuple of its arguments, which `fused!` calls. Its method `kind` is the first of three that fits: that of formulas, of
/// [`WithElements`], of [`OnHost`].
#[doc(hidden)]
pub struct Called<'a, F, A>(&'a F, Cell<Option<A>>);
#[doc(hidden)]
pub struct CalledFormula<F, A>(PhantomData<F>, Option<A>);
#[doc(hidden)]
pub struct CalledOnHost<'a, F, A>(&'a F, Option<A>);
#[doc(hidden)]
pub struct CalledWrongly<F, A>(PhantomData<(F, A)>);

#[doc(hidden)]
pub fn called<F, A>(function: &F, arguments: A) -> Called<'_, F, A> {
    Called(function, Cell::new(Some(arguments)))
}
impl<G: Fn() -> F, F: Formula, A> Called<'_, G, A> {
    /// A formula.
    pub fn kind(self) -> CalledFormula<F, A> {
        CalledFormula(PhantomData, self.1.into_inner())
    }
}
#[doc(hidden)]
pub trait WithElements<F, A> {
    /// No formula, and called with elements.
    fn kind(self) -> CalledWrongly<F, A>;
}
impl<F, A: ElementsFirst> WithElements<F, A> for Called<'_, F, A> {
    fn kind(self) -> CalledWrongly<F, A> {
        CalledWrongly(PhantomData)
    }
}
#[doc(hidden)]
pub trait OnHost<'a, F, A> {
    /// A function of the host.
    fn kind(&self) -> CalledOnHost<'a, F, A>;
}
impl<'a, F, A> OnHost<'a, F, A> for Called<'a, F, A> {
    fn kind(&self) -> CalledOnHost<'a, F, A> {
        CalledOnHost(self.0, self.1.take())
    }
}
/// Arguments whose first one is an expression.
#[doc(hidden)]
pub trait ElementsFirst {}

/// What the function gives: a part of the expression, or a value.
#[doc(hidden)]
pub fn call<C: Call>(called: C) -> C::Output {
    called.call()
}
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`fused!`: a function of Rust's numbers can't be called with the elements of a tensor",
    label = "no `#[formula]`, and called with an expression",
    note = "a function of elements has `#[formula]` above it; a function of tensors is called with references, `f(&x)`, or in braces, `{{ f(x) }}`"
)]
pub trait Call {
    /// What the function gives.
    type Output;
    /// Calls it.
    fn call(self) -> Self::Output;
}
impl<F: Formula<Results: PartOf<F>>, A: Operands<F>> Call for CalledFormula<F, A> {
    type Output = A::Output;
    fn call(self) -> A::Output {
        called_once(self.1).apply()
    }
}
#[diagnostic::do_not_recommend]
impl<F: HostFunction<A>, A> Call for CalledOnHost<'_, F, A> {
    type Output = F::Output;
    fn call(self) -> F::Output {
        self.0.call_on_host(called_once(self.1))
    }
}
/// The arguments, which only `kind` takes.
fn called_once<A>(arguments: Option<A>) -> A {
    arguments.unwrap_or_else(|| unreachable!("`fused!` calls a function once"))
}

/// What a formula gives that is a part of an expression: one number.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`fused!`: the formula `{F}` gives several numbers, and one is needed here",
    label = "gives several numbers",
    note = "apply it to tensors first, and use what it gives: `let (a, b) = x.apply(formula, operands);`"
)]
pub trait PartOf<F> {}
impl<F> PartOf<F> for One {}

/// The operands of a formula in `fused!`, as a tuple: a tensor or an expression first, then tensors, expressions and scalars.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`fused!`: the formula `{F}` can't be called with `{Self}`",
    label = "the operands of `{F}` do not fit",
    note = "give a tensor or an expression first, then as many tensors, expressions or scalars as the formula has operands; they promote to a \
            dtype that the formula is of, and their shapes broadcast"
)]
pub trait Operands<F> {
    /// What it gives; of several numbers the first, so that [`Call`] alone refuses these.
    type Output;
    /// The formula of them.
    fn apply(self) -> Self::Output;
}
macro_rules! operands {
    ($($count:ident: ($($operand:ident $type:ident),*) as $all:ty = $tuple:expr;)*) => {$(
        impl<E: Dtype, S: Shape, D: Device, X, $($type),*> ElementsFirst for (Lazy<E, S, D, X>, $($type,)*) {}
        #[diagnostic::do_not_recommend]
        impl<K: Kinds, F: Formula<Operands = $count<K>>, E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>, $($type),*> Operands<F>
            for (Lazy<E, S, D, X>, $($type,)*)
        where
            $all: OperandsBeside<$count<K>, E, S, D>,
        {
            type Output = Lazy<
                <$all as OperandsBeside<$count<K>, E, S, D>>::Elem,
                <$all as OperandsBeside<$count<K>, E, S, D>>::Shape,
                D,
                <$all as OperandsBeside<$count<K>, E, S, D>>::Node<ResultOf<F, 0>, X>,
            >;
            fn apply(self) -> Self::Output {
                let (x, $($operand,)*) = self;
                x.applied::<ResultOf<F, 0>, $count<K>, _>($tuple)
            }
        }
    )*};
}
operands! {
    One: () as () = ();
    Two: (a A) as A = a;
    Three: (a A, b B) as (A, B) = (a, b);
    Four: (a A, b B, c C) as (A, B, C) = (a, b, c);
    Five: (a A, b B, c C, g G) as (A, B, C, G) = (a, b, c, g);
    Six: (a A, b B, c C, g G, h H) as (A, B, C, G, H) = (a, b, c, g, h);
}

/// A function of the host, called with a tuple of arguments.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`fused!`: the function can't be called with `{A}`",
    label = "neither a `#[formula]`, nor a function of such arguments",
    note = "what Rust computes before stands in braces: `{{ f(n + 1) }}`"
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
