//! Formulas that programs write: a function of one to six numbers, read as loops of each instruction set, as kernels of GPUs and, on dual
//! numbers, as its own derivative, as the formulas of the tables are.

#![allow(clippy::needless_range_loop, reason = "plain loops over lanes are vectorised best")]

pub(crate) use super::results::ResultOf;
pub use super::results::{ForEachResult, Results, SingleFormula};

use super::kernel::{Map1, Map2, Map3, Map4, Map5, Map6};
use super::slope::{
    Derived, OfBinary, OfThree, OfUnary, Slope, binary_derivative, several_tangent, tangent, tuned_derivative,
};
use crate::dtype::{
    Binary, Castable, Compute as _, Dtype, Float, MachineFloat, Parameters, Several, Truth, Tuned, Unary,
};
use crate::ops;
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::record::kernel::{Kernel, Value};
use core::any::TypeId;
use core::marker::PhantomData;
use core::ops::{
    Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem, RemAssign, Sub, SubAssign,
};

/// A function of numbers that [`#[formula]`](macro@crate::formula) wrote.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no formula",
    label = "expected a function that has `#[formula]`",
    note = "a formula is read as loops, as GPU kernels and as its derivative, and calls other formulas only: write `#[formula]` above the function"
)]
pub trait Formula: Copy + Send + Sync + 'static {
    /// How many operands it has: [`One`], [`Two`] and so on to [`Six`].
    type Operands: 'static;
    /// How many numbers it gives: [`One`], or [`Two`] to [`Four`] as a tuple.
    type Results: Results;
    /// Its name.
    const NAME: &'static str;
    /// The names of its operands.
    const ARGUMENTS: &'static [&'static str];
    /// Whether it has a loop, or a function with a path for most numbers: compilers make no vectors around these, so it is computed of
    /// elements side by side.
    #[doc(hidden)]
    const SIDE_BY_SIDE: bool;
    /// What it gives; operands that it does not have are zero.
    #[doc(hidden)]
    fn of<T: MachineFloat>(x: [Number<T>; MOST]) -> <Self::Results as Results>::Of<Number<T>>;
    /// The same where another formula calls it.
    #[doc(hidden)]
    #[inline(always)]
    fn called<T: MachineFloat>(x: [Number<T>; MOST]) -> <Self::Results as Results>::Of<Number<T>> {
        Self::of(x)
    }
    /// Its derivative by one operand, where the program states it.
    #[doc(hidden)]
    #[inline(always)]
    fn slope<T: MachineFloat>(_by: usize, _x: [Number<T>; MOST]) -> Option<Number<T>> {
        None
    }
}

/// The most operands.
pub(crate) const MOST: usize = 6;
macro_rules! counts {
    ($($name:ident $count:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        pub struct $name;
        impl Takes<$count> for $name {}
    )*};
}
counts! {
    One 1 "A formula of one operand.";
    Two 2 "A formula of two operands.";
    Three 3 "A formula of three operands.";
    Four 4 "A formula of four operands.";
    Five 5 "A formula of five operands.";
    Six 6 "A formula of six operands.";
}

/// A number in a formula: of an element, of a recorded kernel, or with a derivative.
///
/// It has Rust's operators, also beside `f64` and `i32`, and the functions of castiron's operations under their names.
#[derive(Clone, Copy, Debug)]
pub struct Number<T>(pub(crate) T);

/// What a comparison of numbers gives: true or false for each element. [`select`] chooses by it.
pub struct Mask<T: MachineFloat>(T::Truth);
impl<T: MachineFloat> Clone for Mask<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: MachineFloat> Copy for Mask<T> {}

/// A number of a formula, or a constant that is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of a formula",
    label = "expected one of its operands, what was computed of them, or an `f64` or `i32`",
    note = "other constants are converted, `n as f64`; a value that is known only while running is an operand of the formula"
)]
pub trait IntoNumber<T> {
    /// The number.
    fn into_number(self) -> Number<T>;
}
impl<T: MachineFloat> From<f64> for Number<T> {
    #[inline(always)]
    fn from(value: f64) -> Self {
        Number(T::lit(value))
    }
}
impl<T: MachineFloat> IntoNumber<T> for Number<T> {
    #[inline(always)]
    fn into_number(self) -> Number<T> {
        self
    }
}
macro_rules! constants {
    ($($ty:ty)*) => {$(
        impl<T: MachineFloat> IntoNumber<T> for $ty {
            #[inline(always)]
            fn into_number(self) -> Number<T> {
                Number(T::lit(self.into()))
            }
        }
        constants! { @operators $ty: Add add, Sub sub, Mul mul, Div div, Rem rem }
    )*};
    (@operators $ty:ty: $($trait:ident $method:ident),*) => {$(
        impl<T: MachineFloat> $trait<$ty> for Number<T> {
            type Output = Number<T>;
            #[inline(always)]
            fn $method(self, other: $ty) -> Number<T> {
                self.$method(IntoNumber::<T>::into_number(other))
            }
        }
        impl<T: MachineFloat> $trait<Number<T>> for $ty {
            type Output = Number<T>;
            #[inline(always)]
            fn $method(self, other: Number<T>) -> Number<T> {
                IntoNumber::<T>::into_number(self).$method(other)
            }
        }
    )*};
}
constants! { f64 i32 }

/// The operators have the formulas of the operations that they are on tensors.
macro_rules! operators {
    ($($trait:ident $method:ident $assign:ident $assigned:ident $op:ident;)*) => {$(
        impl<T: MachineFloat> $trait for Number<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Number(self.0.by_binary::<ops::$op>(other.0))
            }
        }
        impl<T: MachineFloat, R: IntoNumber<T>> $assign<R> for Number<T> {
            #[inline(always)]
            fn $assigned(&mut self, other: R) {
                *self = self.$method(other.into_number());
            }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign add;
    Sub sub SubAssign sub_assign sub;
    Mul mul MulAssign mul_assign mul;
    Div div DivAssign div_assign div;
    Rem rem RemAssign rem_assign remainder;
}
impl<T: MachineFloat> Neg for Number<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Number(-self.0)
    }
}

/// Whether two names are one.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
/// Whether the function of this name has a path that only most numbers take.
#[doc(hidden)]
pub const fn has_fast_path(name: &str) -> bool {
    unary_has_fast_path(name) || binary_has_fast_path(name)
}
macro_rules! functions {
    ($($op:ident)*) => {
        const fn unary_has_fast_path(name: &str) -> bool {
            $((<ops::$op as Unary>::HAS_FAST_PATH && !<ops::$op as Unary>::IS_ALWAYS_FAST && is_same(name, stringify!($op))) ||)* false
        }
        impl<T: MachineFloat> Number<T> {$(
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), ").")]
            #[inline(always)]
            pub fn $op(self) -> Self {
                Number(self.0.by_unary::<ops::$op>())
            }
        )*}
    };
}
functions! {
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinc
    sigmoid erf erfc erfinv lgamma digamma i0
    floor ceil trunc round frac sign relu silu mish gelu logsigmoid
}
macro_rules! functions_of_two {
    ($($name:ident = $op:ident;)*) => {
        const fn binary_has_fast_path(name: &str) -> bool {
            $((<ops::$op as Binary>::HAS_FAST_PATH && is_same(name, stringify!($name))) ||)* false
        }
        impl<T: MachineFloat> Number<T> {$(
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), ").")]
            #[inline(always)]
            pub fn $name(self, other: impl IntoNumber<T>) -> Self {
                Number(self.0.by_binary::<ops::$op>(other.into_number().0))
            }
        )*}
    };
}
functions_of_two! {
    maximum = maximum;
    minimum = minimum;
    pow = pow;
    atan2 = atan2;
    hypot = hypot;
    copysign = copysign;
    fmod = fmod;
    xlogy = xlogy;
}
impl<T: MachineFloat> Number<T> {
    /// As [`Tensor::abs`](crate::Tensor::abs).
    #[inline(always)]
    pub fn abs(self) -> Self {
        Number(self.0.abs())
    }
    /// As [`Tensor::softsign`](crate::Tensor::softsign).
    #[inline(always)]
    pub fn softsign(self) -> Self {
        // (The row of this name has the divisor.)
        self / Number(self.0.by_unary::<ops::softsign>())
    }
    /// Limited to at least `low` and at most `high`, as [`Tensor::clamp`](crate::Tensor::clamp).
    #[inline(always)]
    pub fn clamp(self, low: impl IntoNumber<T>, high: impl IntoNumber<T>) -> Self {
        self.maximum(low).minimum(high)
    }
    /// `self < other`
    #[inline(always)]
    pub fn lt(self, other: impl IntoNumber<T>) -> Mask<T> {
        Mask(self.0.less(other.into_number().0))
    }
    /// `self > other`
    #[inline(always)]
    pub fn gt(self, other: impl IntoNumber<T>) -> Mask<T> {
        Mask(other.into_number().0.less(self.0))
    }
    /// `self == other`
    #[inline(always)]
    pub fn eq(self, other: impl IntoNumber<T>) -> Mask<T> {
        Mask(self.0.same(other.into_number().0))
    }
    /// `self <= other`
    #[inline(always)]
    pub fn le(self, other: impl IntoNumber<T>) -> Mask<T> {
        let other = other.into_number();
        self.lt(other) | self.eq(other)
    }
    /// `self >= other`
    #[inline(always)]
    pub fn ge(self, other: impl IntoNumber<T>) -> Mask<T> {
        let other = other.into_number();
        self.gt(other) | self.eq(other)
    }
    /// `self != other`
    #[inline(always)]
    pub fn ne(self, other: impl IntoNumber<T>) -> Mask<T> {
        !self.eq(other)
    }
    /// Whether it is no number.
    #[inline(always)]
    pub fn isnan(self) -> Mask<T> {
        self.ne(self)
    }
}
impl<T: MachineFloat> BitAnd for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Mask(self.0.and(other.0))
    }
}
impl<T: MachineFloat> BitOr for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Mask(self.0.or(other.0))
    }
}
impl<T: MachineFloat> Not for Mask<T> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Mask(self.0.not())
    }
}

/// `yes` where the mask is true, else `no`: both are computed, and no element waits for another. As [`where_`](crate::where_) of tensors.
#[inline(always)]
pub fn select<T: MachineFloat>(mask: Mask<T>, yes: impl IntoNumber<T>, no: impl IntoNumber<T>) -> Number<T> {
    Number(T::select(mask.0, yes.into_number().0, no.into_number().0))
}

/// The formulas with `N` operands.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the formula has another number of operands than {N}",
    label = "give one number for each operand of the formula"
)]
pub trait Takes<const N: usize> {}

/// A formula by its name: the function that `#[formula]` writes.
#[doc(hidden)]
pub trait Named: Copy {
    /// The formula.
    type Formula: Formula;
}
impl<G: Fn() -> F + Copy, F: Formula> Named for G {
    type Formula = F;
}

/// What a formula calls. Its method `formula` is the formula of that name where there is one, else that of [`NoFormula`].
#[doc(hidden)]
pub struct Callee<G>(PhantomData<G>);
#[doc(hidden)]
pub struct Known<F>(PhantomData<F>);
#[doc(hidden)]
pub struct Unknown<G>(PhantomData<G>);
#[doc(hidden)]
pub fn callee<G>(_: &G) -> Callee<G> {
    Callee(PhantomData)
}
impl<G: Fn() -> F, F: Formula> Callee<G> {
    /// The formula of this name.
    pub fn formula(self) -> Known<F> {
        Known(PhantomData)
    }
}
#[doc(hidden)]
pub trait NoFormula<G> {
    /// None.
    fn formula(&self) -> Unknown<G>;
}
impl<G> NoFormula<G> for Callee<G> {
    fn formula(&self) -> Unknown<G> {
        Unknown(PhantomData)
    }
}
impl<F: Formula> Known<F> {
    /// The formula, called by another one.
    #[inline(always)]
    pub fn call<T: MachineFloat, const N: usize>(self, x: [Number<T>; N]) -> <F::Results as Results>::Of<Number<T>>
    where
        F::Operands: Takes<N>,
    {
        F::called(padded(x, Number(T::zero())))
    }
}
/// What a formula gives whose derivative is stated.
#[doc(hidden)]
#[inline(always)]
pub fn stated<F: SingleFormula, T: MachineFloat>(x: [Number<T>; MOST]) -> Number<T> {
    Number(T::by_several::<By<F>>(x.map(|Number(x)| x)))
}
impl<G> Unknown<G> {
    /// (Never: functions of the host are no formulas, and the message says so.)
    pub fn call<T: MachineFloat, const N: usize>(self, x: [Number<T>; N]) -> Number<T>
    where
        G: Formula,
    {
        x[0]
    }
}

/// The formula as formulas of the tables are.
pub(crate) struct By<F>(PhantomData<fn() -> F>);
#[inline(always)]
fn value<F: SingleFormula, T: MachineFloat, const N: usize>(x: [T; N]) -> T {
    F::of(padded(x.map(Number), Number(T::zero()))).0
}
/// The derivative by one operand: as the program states it, else that of `dual`. Debug builds compare both.
#[inline(always)]
fn slope<F: SingleFormula, T: MachineFloat, const N: usize>(by: usize, x: [T; N], dual: impl Fn([T; N]) -> T) -> T {
    let stated = |x: [T; N]| F::slope(by, padded(x.map(Number), Number(T::zero())));
    let Some(Number(slope)) = stated(x) else { return dual(x) };
    if cfg!(debug_assertions) && (TypeId::of::<T>() == TypeId::of::<f64>() || TypeId::of::<T>() == TypeId::of::<f32>())
    {
        let differs = |a: T, b: T| (a - b).abs() > T::lit(1e-2) * (T::one() + a.abs() + b.abs());
        // (Beside a corner one of the sides agrees.)
        let moved = x.map(|x| x * T::lit(1.0 + 1e-5) + T::lit(1e-20));
        if differs(slope, dual(x)) && stated(moved).is_some_and(|Number(slope)| differs(slope, dual(moved))) {
            panic!(
                "the derivative that `{}` states by its operand {by} is {slope:?} at {x:?}; that of its formula is {:?}",
                F::NAME,
                dual(x)
            );
        }
    }
    slope
}
impl<F: SingleFormula> Several for By<F> {
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, x: [T; MOST]) -> T {
        slope::<F, T, MOST>(by, x, |x| several_tangent::<Self, T>(by, x))
    }
    #[inline(always)]
    fn real_lanes<T: MachineFloat>(x: [[T; LANES]; MOST]) -> [T; LANES] {
        // (A loop: `map` of arrays is not always inlined.)
        let mut all = [Number(Lanes::default()); MOST];
        for at in 0..MOST {
            all[at] = Number(Lanes(x[at]));
        }
        F::of(all).0.0
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: [T; MOST]) -> T {
        value::<F, T, MOST>(x)
    }
}
impl<F: SingleFormula> Unary for By<F> {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        value::<F, T, 1>([x])
    }
    #[inline(always)]
    fn derivative<T: MachineFloat>(x: T, _: T) -> T {
        slope::<F, T, 1>(0, [x], |[x]| tangent(x, <Self as Unary>::real))
    }
}
impl<F: SingleFormula> Binary for By<F> {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        value::<F, T, 2>([a, b])
    }
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
        slope::<F, T, 2>(by, [a, b], |[a, b]| binary_derivative::<Self, T>(by, a, b))
    }
}
impl<F: SingleFormula> Tuned for By<F> {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [a, b, _]: Parameters<T>) -> T {
        value::<F, T, 3>([x, a, b])
    }
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, x: T, [a, b, c]: Parameters<T>) -> T {
        slope::<F, T, 3>(by, [x, a, b], |[x, a, b]| tuned_derivative::<Self, T>(by, x, [a, b, c]))
    }
}

/// The kernel of a formula: operands are converted to the result's dtype, and the result is rounded to it once.
#[doc(hidden)]
pub struct ApplyingFormula<F>(PhantomData<fn() -> F>);
impl<F> ApplyingFormula<F> {
    pub(crate) const fn new() -> Self {
        ApplyingFormula(PhantomData)
    }
}
impl<F> Clone for ApplyingFormula<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for ApplyingFormula<F> {}

#[inline(always)]
fn wide<A: Castable, P: Float>(a: A) -> P::Compute {
    Castable::cast::<P>(a).to_compute()
}
#[inline(always)]
fn wide_lanes<A: Castable, P: Float>(a: [A; LANES]) -> [P::Compute; LANES] {
    let mut out = [P::Compute::default(); LANES];
    for at in 0..LANES {
        out[at] = wide::<A, P>(a[at]);
    }
    out
}
/// The formula of elements side by side.
#[inline(always)]
fn block<F: SingleFormula, P: Float, const N: usize>(x: [[P::Compute; LANES]; N]) -> [P; LANES] {
    let given = P::Compute::several_lanes::<By<F>>(padded(x, [Default::default(); LANES]));
    let mut out = [P::default(); LANES];
    for at in 0..LANES {
        out[at] = P::from_compute(given[at]);
    }
    out
}
impl<F: SingleFormula, A: Castable, P: Float> Map1<A, P> for ApplyingFormula<F> {
    const SLOPE: Slope = Derived::<OfUnary<By<F>>, P>::SLOPE;
    const IS_COMPUTE_BOUND: bool = true;
    const BLOCKS: bool = F::SIDE_BY_SIDE;
    #[inline(always)]
    fn block(self, a: [A; LANES]) -> [P; LANES] {
        block::<F, P, 1>([wide_lanes::<A, P>(a)])
    }
    #[inline(always)]
    fn call(self, a: A) -> P {
        P::from_compute(wide::<A, P>(a).unary::<By<F>>())
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let a = kernel.operand(a, P::DTYPE);
        let value = kernel.unary::<By<F>>(a);
        kernel.cast(value, P::DTYPE)
    }
}
impl<F: SingleFormula, A: Castable, B: Castable, P: Float> Map2<A, B, P> for ApplyingFormula<F> {
    const SLOPE: Slope = Derived::<OfBinary<By<F>>, P>::SLOPE;
    const BLOCKS: bool = F::SIDE_BY_SIDE;
    #[inline(always)]
    fn block(self, a: [A; LANES], b: [B; LANES]) -> [P; LANES] {
        block::<F, P, 2>([wide_lanes::<A, P>(a), wide_lanes::<B, P>(b)])
    }
    #[inline(always)]
    fn call(self, a: A, b: B) -> P {
        P::from_compute(wide::<A, P>(a).binary::<By<F>>(wide::<B, P>(b)))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| kernel.operand(x, P::DTYPE));
        let value = kernel.binary::<By<F>>(a, b);
        kernel.cast(value, P::DTYPE)
    }
}
impl<F: SingleFormula, A: Castable, B: Castable, C: Castable, P: Float> Map3<A, B, C, P> for ApplyingFormula<F> {
    const SLOPE: Slope = Derived::<OfThree<By<F>>, P>::SLOPE;
    const BLOCKS: bool = F::SIDE_BY_SIDE;
    #[inline(always)]
    fn block(self, a: [A; LANES], b: [B; LANES], c: [C; LANES]) -> [P; LANES] {
        block::<F, P, 3>([wide_lanes::<A, P>(a), wide_lanes::<B, P>(b), wide_lanes::<C, P>(c)])
    }
    #[inline(always)]
    fn call(self, a: A, b: B, c: C) -> P {
        let parameters = [wide::<B, P>(b), wide::<C, P>(c), Default::default()];
        P::from_compute(wide::<A, P>(a).tuned::<By<F>>(parameters))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value, c: Value) -> Value {
        let [a, b, c] = [a, b, c].map(|x| kernel.operand(x, P::DTYPE));
        let none = kernel.constant(0.0, a.dtype());
        let value = kernel.tuned::<By<F>>(a, [b, c, none]);
        kernel.cast(value, P::DTYPE)
    }
}
/// The kernel of a formula of two operands in place: they are converted to `P`, and the result to the dtype of the first.
pub(crate) struct InPlace<F, P>(PhantomData<fn() -> (F, P)>);
impl<F, P> InPlace<F, P> {
    pub(crate) const fn new() -> Self {
        InPlace(PhantomData)
    }
}
impl<F, P> Clone for InPlace<F, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, P> Copy for InPlace<F, P> {}
impl<F: SingleFormula, A: Dtype, B: Castable, P: Float> Map2<A, B, A> for InPlace<F, P> {
    #[inline(always)]
    fn call(self, a: A, b: B) -> A {
        let value = Map2::<A, B, P>::call(ApplyingFormula::<F>::new(), a, b);
        value.cast()
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let value = Map2::<A, B, P>::text(&ApplyingFormula::<F>::new(), kernel, a, b);
        kernel.cast(value, A::DTYPE)
    }
}
/// Elements and those that a formula does not have.
#[inline(always)]
fn padded<T: Copy, const N: usize>(x: [T; N], none: T) -> [T; MOST] {
    let mut all = [none; MOST];
    all[..N].copy_from_slice(&x);
    all
}
/// The kernels of more operands.
macro_rules! kernels {
    ($($map:ident($($x:ident: $X:ident),*);)*) => {$(
        impl<F: SingleFormula, $($X: Castable,)* P: Float> $map<$($X,)* P> for ApplyingFormula<F> {
            const BLOCKS: bool = F::SIDE_BY_SIDE;
            #[inline(always)]
            fn block(self, $($x: [$X; LANES]),*) -> [P; LANES] {
                block::<F, P, _>([$(wide_lanes::<$X, P>($x)),*])
            }
            #[inline(always)]
            fn call(self, $($x: $X),*) -> P {
                let x = padded([$(wide::<$X, P>($x)),*], Default::default());
                P::from_compute(P::Compute::several::<By<F>>(x))
            }
            fn text(&self, kernel: &mut Kernel, $($x: Value),*) -> Value {
                let x = [$(kernel.operand($x, P::DTYPE)),*];
                let none = kernel.constant(0.0, x[0].dtype());
                let value = kernel.several::<By<F>>(padded(x, none));
                kernel.cast(value, P::DTYPE)
            }
        }
    )*};
}
kernels! {
    Map4(a: A, b: B, c: C, d: G);
    Map5(a: A, b: B, c: C, d: G, e: H);
    Map6(a: A, b: B, c: C, d: G, e: H, f: I);
}
