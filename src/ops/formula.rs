//! Formulas that programs write: a function of one to six numbers, read as loops of each instruction set, as kernels of GPUs and, on dual
//! numbers, as its own derivative, as the formulas of the tables are.

#![allow(clippy::needless_range_loop, reason = "plain loops over lanes are vectorised best")]

pub use super::kinds::{
    AMask, ANumber, Among, BitsAndBools, Complexes, Floats, Inexacts, Integers, Kinds, NumberSet, Numbers, Plain,
    Reals, WithMasks,
};
pub(crate) use super::kinds::{Gives, Holds};
pub use super::number::{IntoNumber, Mask, Number, has_fast_path, mask, select};
pub(crate) use super::results::ResultOf;
pub use super::results::{ForEachResult, OfTensors, Results, SingleFormula};

use super::kernel::{Map1, Map2, Map3, Map4, Map5, Map6};
use super::slope::{
    Derived, OfBinary, OfThree, OfUnary, Slope, binary_derivative, several_tangent, tangent, tuned_derivative,
};
use crate::dtype::numbers::MachineElement;
use crate::dtype::{
    Binary, Castable, Complex, Compute as _, Dtype, MachineFloat, MachineInt, Parameters, Several, Tuned, Unary,
    refused,
};
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::record::Unreadable;
use crate::ops::record::kernel::{Kernel, Value};
use core::any::TypeId;
use core::marker::PhantomData;

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
    /// Which numbers it is of: [`Floats`], [`Integers`] and so on.
    type Set: NumberSet;
    /// Which operands are masks, and whether the result is.
    type Kinds: Kinds;
    /// Its name.
    const NAME: &'static str;
    /// The names of its operands.
    const ARGUMENTS: &'static [&'static str];
    /// Whether it has a loop, or a function with a path for most numbers: compilers make no vectors around these, so it is computed of
    /// elements side by side.
    #[doc(hidden)]
    const SIDE_BY_SIDE: bool;
    /// What it gives of floating-point numbers; operands that it does not have are zero. This and the following are those of its set.
    #[doc(hidden)]
    #[inline(always)]
    fn of<T: MachineFloat>(_x: [Number<T>; MOST]) -> <Self::Results as Results>::Of<Number<T>> {
        refused()
    }
    /// Of integers.
    #[doc(hidden)]
    #[inline(always)]
    fn of_integers<T: MachineInt>(_x: [Number<T>; MOST]) -> <Self::Results as Results>::Of<Number<T>> {
        refused()
    }
    /// Of complex numbers.
    #[doc(hidden)]
    #[inline(always)]
    fn of_complex<T: MachineFloat>(
        _x: [Number<Complex<T>>; MOST],
    ) -> <Self::Results as Results>::Of<Number<Complex<T>>> {
        refused()
    }
    /// Of bools.
    #[doc(hidden)]
    #[inline(always)]
    fn of_bools(_x: [Number<bool>; MOST]) -> <Self::Results as Results>::Of<Number<bool>> {
        refused()
    }
    /// [`of`](Self::of) where another formula calls it.
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
pub const MOST: usize = 6;
/// The most results.
pub(crate) const MOST_RESULTS: usize = 4;
macro_rules! counts {
    ($($name:ident $count:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        pub struct $name<K = Plain>(PhantomData<fn() -> K>);
        impl<K> Takes<$count> for $name<K> {}
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
/// Whether what `of` gives, a formula that another one calls, is computed of elements side by side. (`of` is never called: its type says
/// which formula it is.)
#[doc(hidden)]
pub const fn is_side_by_side<R: PerhapsSideBySide, G: Fn() -> R>(_of: &G) -> bool {
    R::SIDE_BY_SIDE
}
#[doc(hidden)]
pub trait PerhapsSideBySide {
    const SIDE_BY_SIDE: bool;
}
impl<F: Formula> PerhapsSideBySide for Known<F> {
    const SIDE_BY_SIDE: bool = F::SIDE_BY_SIDE;
}
impl<G> PerhapsSideBySide for Unknown<G> {
    const SIDE_BY_SIDE: bool = false;
}
impl<F: Formula> Known<F> {
    /// The formula, called by another one.
    #[inline(always)]
    pub fn call<T: MachineElement, const N: usize>(
        self,
        x: [Number<T>; N],
    ) -> <<F::Kinds as Kinds>::Gives as Gives>::Called<F::Results, T>
    where
        F::Operands: Takes<N>,
        Number<T>: Among<F::Set>,
    {
        <F::Kinds as Kinds>::Gives::called::<F::Results, T>(T::called::<F>(padded(x, Number(T::default()))))
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
    pub fn call<T: MachineElement, const N: usize>(self, x: [Number<T>; N]) -> Number<T>
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
/// The same of integers, complex numbers and bools.
#[inline(always)]
fn integers<F: SingleFormula, T: MachineInt, const N: usize>(x: [T; N]) -> T {
    F::of_integers(padded(x.map(Number), Number(T::default()))).0
}
#[inline(always)]
fn complex<F: SingleFormula, T: MachineFloat, const N: usize>(x: [Complex<T>; N]) -> Complex<T> {
    F::of_complex(padded(x.map(Number), Number(Complex::default()))).0
}
#[inline(always)]
fn bools<F: SingleFormula, const N: usize>(x: [bool; N]) -> bool {
    F::of_bools(padded(x.map(Number), Number(false))).0
}
impl<F: SingleFormula> Several for By<F> {
    #[inline(always)]
    fn boolean(x: [bool; MOST]) -> bool {
        bools::<F, MOST>(x)
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: [T; MOST]) -> T {
        integers::<F, T, MOST>(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(x: [Complex<T>; MOST]) -> Complex<T> {
        complex::<F, T, MOST>(x)
    }
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
    fn boolean(x: bool) -> bool {
        bools::<F, 1>([x])
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        integers::<F, T, 1>([x])
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        complex::<F, T, 1>([z])
    }
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
    fn boolean(a: bool, b: bool) -> bool {
        bools::<F, 2>([a, b])
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        integers::<F, T, 2>([a, b])
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        complex::<F, T, 2>([a, b])
    }
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
    fn boolean(x: bool, [a, b, _]: Parameters<bool>) -> bool {
        bools::<F, 3>([x, a, b])
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T, [a, b, _]: Parameters<T>) -> T {
        integers::<F, T, 3>([x, a, b])
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>, [a, b, _]: Parameters<Complex<T>>) -> Complex<T> {
        complex::<F, T, 3>([z, a, b])
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [a, b, _]: Parameters<T>) -> T {
        value::<F, T, 3>([x, a, b])
    }
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, x: T, [a, b, c]: Parameters<T>) -> T {
        slope::<F, T, 3>(by, [x, a, b], |[x, a, b]| tuned_derivative::<Self, T>(by, x, [a, b, c]))
    }
}

/// The kernel of a formula: operands are converted to `P`, and the result is rounded to it once; that of a mask, or in place, is converted
/// to its own dtype.
#[doc(hidden)]
pub struct ApplyingFormula<F, P>(PhantomData<fn() -> (F, P)>);
impl<F, P> ApplyingFormula<F, P> {
    pub(crate) const fn new() -> Self {
        ApplyingFormula(PhantomData)
    }
}
impl<F, P> Clone for ApplyingFormula<F, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, P> Copy for ApplyingFormula<F, P> {}

#[inline(always)]
fn wide<A: Castable, P: Dtype>(a: A) -> P::Compute {
    Castable::cast::<P>(a).to_compute()
}
#[inline(always)]
fn wide_lanes<A: Castable, P: Dtype>(a: [A; LANES]) -> [P::Compute; LANES] {
    let mut out = [P::Compute::default(); LANES];
    for at in 0..LANES {
        out[at] = wide::<A, P>(a[at]);
    }
    out
}
#[inline(always)]
fn given<P: Dtype, O: Castable>(value: P::Compute) -> O {
    P::from_compute(value).cast()
}
/// The same as text.
fn given_text<P: Dtype, O: Castable>(kernel: &mut Kernel, value: Value) -> Value {
    let value = kernel.cast(value, P::DTYPE);
    kernel.cast(value, O::DTYPE)
}
/// Whether it is computed of elements side by side: numbers in lanes are floats.
const fn side_by_side<F: Formula, P: Dtype>() -> bool {
    F::SIDE_BY_SIDE && P::DTYPE.is_floating_point()
}
/// The formula of elements side by side.
#[inline(always)]
fn block<F: SingleFormula, P: Dtype, O: Castable, const N: usize>(x: [[P::Compute; LANES]; N]) -> [O; LANES] {
    let all = P::Compute::several_lanes::<By<F>>(padded(x, [Default::default(); LANES]));
    let mut out = [given::<P, O>(all[0]); LANES];
    for at in 1..LANES {
        out[at] = given::<P, O>(all[at]);
    }
    out
}
impl<F: SingleFormula, A: Castable, P: Dtype, O: Castable> Map1<A, O> for ApplyingFormula<F, P> {
    const SLOPE: Slope = Derived::<OfUnary<By<F>>, P>::SLOPE;
    const IS_COMPUTE_BOUND: bool = true;
    const BLOCKS: bool = side_by_side::<F, P>();
    #[inline(always)]
    fn block(self, a: [A; LANES]) -> [O; LANES] {
        block::<F, P, O, 1>([wide_lanes::<A, P>(a)])
    }
    #[inline(always)]
    fn call(self, a: A) -> O {
        given::<P, O>(wide::<A, P>(a).unary::<By<F>>())
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let a = kernel.operand(a, P::DTYPE);
        let value = kernel.unary::<By<F>>(a);
        given_text::<P, O>(kernel, value)
    }
}
impl<F: SingleFormula, A: Castable, B: Castable, P: Dtype, O: Castable> Map2<A, B, O> for ApplyingFormula<F, P> {
    const SLOPE: Slope = Derived::<OfBinary<By<F>>, P>::SLOPE;
    const BLOCKS: bool = side_by_side::<F, P>();
    #[inline(always)]
    fn block(self, a: [A; LANES], b: [B; LANES]) -> [O; LANES] {
        block::<F, P, O, 2>([wide_lanes::<A, P>(a), wide_lanes::<B, P>(b)])
    }
    #[inline(always)]
    fn call(self, a: A, b: B) -> O {
        given::<P, O>(wide::<A, P>(a).binary::<By<F>>(wide::<B, P>(b)))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|x| kernel.operand(x, P::DTYPE));
        let value = kernel.binary::<By<F>>(a, b);
        given_text::<P, O>(kernel, value)
    }
}
/// The kernel of a formula of two operands, the second of which is this number.
#[derive(Clone, Copy)]
pub(crate) struct BesideNumber<F, P>(pub(crate) ApplyingFormula<F, P>, pub(crate) P);
impl<F: SingleFormula, A: Castable, P: Dtype, O: Castable> Map1<A, O> for BesideNumber<F, P> {
    const IS_COMPUTE_BOUND: bool = true;
    #[inline(always)]
    fn call(self, a: A) -> O {
        Map2::<A, P, O>::call(self.0, a, self.1)
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let number = kernel.parameter(self.1);
        Map2::<A, P, O>::text(&self.0, kernel, a, number)
    }
}
impl<F: SingleFormula, A: Castable, B: Castable, C: Castable, P: Dtype, O: Castable> Map3<A, B, C, O>
    for ApplyingFormula<F, P>
{
    const SLOPE: Slope = Derived::<OfThree<By<F>>, P>::SLOPE;
    const BLOCKS: bool = side_by_side::<F, P>();
    #[inline(always)]
    fn block(self, a: [A; LANES], b: [B; LANES], c: [C; LANES]) -> [O; LANES] {
        block::<F, P, O, 3>([wide_lanes::<A, P>(a), wide_lanes::<B, P>(b), wide_lanes::<C, P>(c)])
    }
    #[inline(always)]
    fn call(self, a: A, b: B, c: C) -> O {
        let parameters = [wide::<B, P>(b), wide::<C, P>(c), Default::default()];
        given::<P, O>(wide::<A, P>(a).tuned::<By<F>>(parameters))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value, c: Value) -> Value {
        let [a, b, c] = [a, b, c].map(|x| kernel.operand(x, P::DTYPE));
        let none = kernel.constant(0.0, a.dtype());
        let value = kernel.tuned::<By<F>>(a, [b, c, none]);
        given_text::<P, O>(kernel, value)
    }
}
/// The kernel of a formula with several results, as [`ApplyingFormula`].
#[doc(hidden)]
pub struct ApplyingEach<F, P>(PhantomData<fn() -> (F, P)>);
impl<F, P> ApplyingEach<F, P> {
    pub(crate) const fn new() -> Self {
        ApplyingEach(PhantomData)
    }
}
impl<F, P> Clone for ApplyingEach<F, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, P> Copy for ApplyingEach<F, P> {}
/// The kernels of several results.
macro_rules! kernels_of_each {
    ($($map:ident($($x:ident: $X:ident),*);)*) => {$(
        impl<F: Formula, $($X: Castable,)* P: Dtype, O: Castable, const N: usize> $map<$($X,)* [O; N]> for ApplyingEach<F, P> {
            const BLOCKS: bool = side_by_side::<F, P>();
            #[inline(always)]
            fn block(self, $($x: [$X; LANES]),*) -> [[O; N]; LANES] {
                let x = padded([$(wide_lanes::<$X, P>($x)),*], [Default::default(); LANES]);
                let all = P::Compute::called_side_by_side::<F, N>(x);
                // (Loops: functions of arrays are not always inlined.)
                let mut out = [[given::<P, O>(all[0][0]); N]; LANES];
                for at in 0..N {
                    for lane in 0..LANES {
                        out[lane][at] = given::<P, O>(all[at][lane]);
                    }
                }
                out
            }
            #[inline(always)]
            fn call(self, $($x: $X),*) -> [O; N] {
                let x = padded([$(wide::<$X, P>($x)),*], Default::default());
                let all = F::Results::array::<_, N>(P::Compute::called::<F>(numbers(x)));
                let mut out = [given::<P, O>(all[0].0); N];
                for at in 1..N {
                    out[at] = given::<P, O>(all[at].0);
                }
                out
            }
            fn text(&self, kernel: &mut Kernel, $($x: Value),*) -> Value {
                let _ = [$($x),*];
                kernel.refuse(Unreadable::Kernel("a formula with several results is a kernel for each of them"), O::DTYPE)
            }
        }
    )*};
}
kernels_of_each! {
    Map1(a: A);
    Map2(a: A, b: B);
    Map3(a: A, b: B, c: C);
    Map4(a: A, b: B, c: C, d: G);
    Map5(a: A, b: B, c: C, d: G, e: H);
    Map6(a: A, b: B, c: C, d: G, e: H, f: I);
}

#[inline(always)]
fn numbers<T: Copy>(x: [T; MOST]) -> [Number<T>; MOST] {
    let mut all = [Number(x[0]); MOST];
    for at in 1..MOST {
        all[at] = Number(x[at]);
    }
    all
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
        impl<F: SingleFormula, $($X: Castable,)* P: Dtype, O: Castable> $map<$($X,)* O> for ApplyingFormula<F, P> {
            const BLOCKS: bool = side_by_side::<F, P>();
            #[inline(always)]
            fn block(self, $($x: [$X; LANES]),*) -> [O; LANES] {
                block::<F, P, O, _>([$(wide_lanes::<$X, P>($x)),*])
            }
            #[inline(always)]
            fn call(self, $($x: $X),*) -> O {
                let x = padded([$(wide::<$X, P>($x)),*], Default::default());
                given::<P, O>(P::Compute::several::<By<F>>(x))
            }
            fn text(&self, kernel: &mut Kernel, $($x: Value),*) -> Value {
                let x = [$(kernel.operand($x, P::DTYPE)),*];
                let none = kernel.constant(0.0, x[0].dtype());
                let value = kernel.several::<By<F>>(padded(x, none));
                given_text::<P, O>(kernel, value)
            }
        }
    )*};
}
kernels! {
    Map4(a: A, b: B, c: C, d: G);
    Map5(a: A, b: B, c: C, d: G, e: H);
    Map6(a: A, b: B, c: C, d: G, e: H, f: I);
}
