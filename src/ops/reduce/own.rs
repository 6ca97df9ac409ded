//! Reductions and scans that programs write: a state of a few numbers, and how it starts, takes an element, merges with another one and
//! gives the result.

use super::steps::{Given, ImaginaryPart, RealPart, Steps, by_steps, nothing};
use super::{Index, Reducer as Reduces, SeveralResults};
use crate::dtype::{Castable as _, Compute, Dtype, Element, Float, MachineFloat, Many};
use crate::ops::formula::{MOST_RESULTS, Number, Results};
use crate::ops::kernel::{LaneColumns, LaneKernel};
use crate::ops::record::lane::{RecordedLane, Scan};
use crate::ops::record::reduce::{Record, RecordedReducer, Reduction};
use crate::ops::scan::one_lane::OneLane;
use crate::ops::scan::steps::LaneSteps;
use core::marker::PhantomData;

/// A reduction that [`#[reducer]`](macro@crate::reducer) wrote, whose state is `STATE` numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reducer",
    label = "expected a type that has `#[reducer]`",
    note = "a reducer is a struct with its steps in a block: `#[reducer] impl {Self} {{ fn start…; fn step…; fn merge…; fn finish… }}`"
)]
pub trait Reducer<const STATE: usize>: 'static {
    /// How many operands it has: [`One`](crate::formula::One) or [`Two`](crate::formula::Two).
    type Operands: 'static;
    /// How many numbers it gives: [`One`](crate::formula::One), or up to [`Four`](crate::formula::Four) as a tuple.
    type Results: Results;
    /// Its name.
    const NAME: &'static str;
    /// The state before the first element.
    #[doc(hidden)]
    fn start<T: MachineFloat>() -> [Number<T>; STATE];
    /// The state after one more element.
    #[doc(hidden)]
    fn step<T: MachineFloat>(state: [Number<T>; STATE], x: [Number<T>; 2]) -> [Number<T>; STATE];
    /// The state of the elements of both.
    #[doc(hidden)]
    fn merge<T: MachineFloat>(one: [Number<T>; STATE], other: [Number<T>; STATE]) -> [Number<T>; STATE];
    /// What it gives.
    #[doc(hidden)]
    fn finish<T: MachineFloat>(state: [Number<T>; STATE]) -> <Self::Results as Results>::Of<Number<T>>;
}

#[inline(always)]
fn numbers<T: MachineFloat, const N: usize>(x: &[T]) -> [Number<T>; N] {
    core::array::from_fn(|at| Number(x[at]))
}
/// `Name |state, other| the state`: the steps as formulas of many numbers.
macro_rules! steps {
    ($($name:ident |$a:ident, $b:ident| $state:expr;)*) => {$(
        struct $name<R, const N: usize>(PhantomData<fn() -> R>);
        impl<R: Reducer<N>, const N: usize> Many for $name<R, N> {
            #[inline(always)]
            fn real<T: MachineFloat>($a: &[T], $b: &[T], out: &mut [T]) {
                for (out, state) in out.iter_mut().zip($state) {
                    *out = state.0;
                }
            }
        }
    )*};
}
steps! {
    Starting |_state, _x| R::start::<T>();
    Stepping |state, x| R::step(numbers::<T, N>(state), numbers(x));
    Merging |one, other| R::merge(numbers::<T, N>(one), numbers(other));
}
/// The result of this number.
struct Finishing<R, const N: usize, const AT: usize>(PhantomData<fn() -> R>);
impl<R: Reducer<N>, const N: usize, const AT: usize> Many for Finishing<R, N, AT> {
    #[inline(always)]
    fn real<T: MachineFloat>(state: &[T], _: &[T], out: &mut [T]) {
        out[0] = R::Results::pick(R::finish(numbers(state)), AT).0;
    }
}
/// All results, one after the other.
struct FinishingAll<R, const N: usize>(PhantomData<fn() -> R>);
impl<R: Reducer<N>, const N: usize> Many for FinishingAll<R, N> {
    #[inline(always)]
    fn real<T: MachineFloat>(state: &[T], _: &[T], out: &mut [T]) {
        for (at, out) in out.iter_mut().enumerate().take(R::Results::COUNT) {
            *out = R::Results::pick(R::finish(numbers(state)), at).0;
        }
    }
}
#[inline(always)]
fn state<F: Many, C: Compute, const N: usize>(a: &[C], b: &[C]) -> [C; N] {
    let mut out = [C::default(); N];
    C::many::<F>(a, b, &mut out);
    out
}

/// A type without values that is copied whatever its parameters are.
macro_rules! marker {
    ($name:ident<$($parameter:ident),*> $doc:literal) => {
        #[doc = $doc]
        pub(crate) struct $name<$($parameter,)* const N: usize, const AT: usize>(PhantomData<fn() -> ($($parameter,)*)>);
        impl<$($parameter,)* const N: usize, const AT: usize> $name<$($parameter,)* N, AT> {
            pub(crate) const NEW: Self = $name(PhantomData);
        }
        impl<$($parameter,)* const N: usize, const AT: usize> Clone for $name<$($parameter,)* N, AT> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($parameter,)* const N: usize, const AT: usize> Copy for $name<$($parameter,)* N, AT> {}
    };
}
marker!(OfOne<R> "A reducer of one operand, and which of its results.");
marker!(
    OfTwo < R,
    E > "A reducer of two operands of dtype `E`, as the parts of complex numbers, and which of its results."
);

impl<R: Reducer<N>, const N: usize, const AT: usize> Steps for OfOne<R, N, AT> {
    type Partial<C: Compute, I: Index> = [C; N];
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> [C; N] {
        state::<Starting<R, N>, C, N>(&[], &[])
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: [C; N], element: C, _: I, _: Given<C>) -> [C; N] {
        state::<Stepping<R, N>, C, N>(&partial, &[element, C::default()])
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: [C; N], other: [C; N]) -> [C; N] {
        state::<Merging<R, N>, C, N>(&one, &other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: [C; N], _: C, _: Given<C>) -> C {
        let [out] = state::<Finishing<R, N, AT>, C, 1>(&partial, &[]);
        out
    }
}
impl<R: Reducer<N>, E: 'static, const N: usize, const AT: usize> Steps for OfTwo<R, E, N, AT> {
    type Partial<C: Compute, I: Index> = [C::Real; N];
    type Out<C: Compute, I: Index> = C::Real;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> [C::Real; N] {
        state::<Starting<R, N>, C::Real, N>(&[], &[])
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: [C::Real; N], pair: C, _: I, _: Given<C>) -> [C::Real; N] {
        state::<Stepping<R, N>, C::Real, N>(&partial, &[pair.to_real::<RealPart>(), pair.to_real::<ImaginaryPart>()])
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: [C::Real; N], other: [C::Real; N]) -> [C::Real; N] {
        state::<Merging<R, N>, C::Real, N>(&one, &other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: [C::Real; N], _: C, _: Given<C>) -> C::Real {
        let [out] = state::<Finishing<R, N, AT>, C::Real, 1>(&partial, &[]);
        out
    }
}

impl<R: Reducer<N>, E: Float, const N: usize, const AT: usize> Reduces<E> for OfOne<R, N, AT> {
    type Partial = [E::Compute; N];
    type Out = E;
    by_steps! { self: self, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |out| E::from_compute(out) }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>(&format!("own_{}_{AT}", R::NAME)).read(self)
    }
}
impl<R: Reducer<N>, E: Float, const N: usize> SeveralResults<E> for OfOne<R, N, 0> {
    const RESULTS: usize = R::Results::COUNT;
    #[inline(always)]
    fn results(self, partial: Self::Partial) -> [E; MOST_RESULTS] {
        state::<FinishingAll<R, N>, E::Compute, MOST_RESULTS>(&partial, &[]).map(E::from_compute)
    }
}
/// The number type of a pair of `E`, and of its parts.
type Pair<E> = <<E as Float>::Complex as Dtype>::Compute;
type Part<E> = <Pair<E> as Compute>::Real;
impl<R: Reducer<N>, E: Float, const N: usize, const AT: usize> Reduces<E::Complex> for OfTwo<R, E, N, AT> {
    type Partial = [Part<E>; N];
    type Out = E;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Steps::start::<Pair<E>, usize>(self)
    }
    #[inline(always)]
    fn accumulate(self, partial: Self::Partial, pair: E::Complex, index: usize) -> Self::Partial {
        Steps::accumulate::<Pair<E>, usize>(self, partial, pair.to_compute(), index, nothing::<Pair<E>>())
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        Steps::merge::<Pair<E>, usize>(self, one, other)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E {
        let none = Pair::<E>::default();
        Steps::finish::<Pair<E>, usize>(self, partial, none, nothing::<Pair<E>>()).cast()
    }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E::Complex>(&format!("own_{}_{AT}", R::NAME)).gives::<E>().read(self)
    }
}

impl<R: Reducer<N>, E: Float, const N: usize> SeveralResults<E::Complex> for OfTwo<R, E, N, 0> {
    const RESULTS: usize = R::Results::COUNT;
    #[inline(always)]
    fn results(self, partial: Self::Partial) -> [E; MOST_RESULTS] {
        state::<FinishingAll<R, N>, Part<E>, MOST_RESULTS>(&partial, &[]).map(|out| out.cast())
    }
}

/// The same as scans: the result at each element is that of all elements up to it.
macro_rules! scans {
    ($($name:ident<$R:ident $(, $E:ident)?>, $state:ident of $C:ident;)*) => {$(
        impl<$R: Reducer<N>, $($E: 'static,)? const N: usize, const AT: usize> LaneSteps for $name<$R, $($E,)? N, AT> {
            type Partial<$C: Compute, I: Index> = <Self as Steps>::Partial<$C, I>;
            const FINISHES: bool = true;
            #[inline(always)]
            fn start<$C: Compute, I: Index>(self) -> Option<<Self as Steps>::Partial<$C, I>> {
                Some(Steps::start::<$C, I>(self))
            }
            #[inline(always)]
            fn of<$C: Compute, I: Index>(self, element: $C, index: I) -> <Self as Steps>::Partial<$C, I> {
                Steps::accumulate::<$C, I>(self, Steps::start::<$C, I>(self), element, index, nothing::<$C>())
            }
            #[inline(always)]
            fn merge<$C: Compute, I: Index>(
                self,
                earlier: <Self as Steps>::Partial<$C, I>,
                later: <Self as Steps>::Partial<$C, I>,
            ) -> <Self as Steps>::Partial<$C, I> {
                Steps::merge::<$C, I>(self, earlier, later)
            }
            #[inline(always)]
            fn finish<$C: Compute, I: Index>(self, $state: <Self as Steps>::Partial<$C, I>) -> $C::Real {
                scans!(@finish self $C $state $($E)?)
            }
        }
    )*};
    (@finish $self:ident $C:ident $state:ident) => {
        Steps::finish::<$C, I>($self, $state, <$C>::default(), nothing::<$C>()).to_real::<RealPart>()
    };
    (@finish $self:ident $C:ident $state:ident $E:ident) => {
        Steps::finish::<$C, I>($self, $state, <$C>::default(), nothing::<$C>())
    };
}
scans! {
    OfOne<R>, state of C;
    OfTwo<R, E>, state of C;
}

/// Columns one after the other, each element in turn.
#[inline(always)]
fn descend<S: Steps, C: Compute, A: Copy, O>(
    steps: S,
    lanes: &impl LaneColumns<A, O>,
    number: impl Fn(A) -> C,
    result: impl Fn(S::Out<C, usize>) -> O,
) {
    let start = Steps::start::<C, usize>(steps);
    let next = |state, x, row| Steps::accumulate::<C, usize>(steps, state, number(x), row, nothing::<C>());
    let finish = |state| result(Steps::finish::<C, usize>(steps, state, C::default(), nothing::<C>()));
    crate::ops::scan::descend(lanes, |_| start, next, finish);
}
impl<R: Reducer<N>, E: Float, const N: usize, const AT: usize> LaneKernel<E, E> for OfOne<R, N, AT> {
    type Scratch = ();
    fn lane(self, from: &[E], to: &mut [E], (): &mut ()) {
        LaneKernel::<E, E>::columns(self, &OneLane::new(from, to), &mut ());
    }
    const ALL_BY_COLUMNS: bool = true;
    #[inline(always)]
    fn columns(self, lanes: &impl LaneColumns<E, E>, (): &mut ()) {
        descend(self, lanes, |x: E| x.to_compute(), |out| E::from_compute(out));
    }
    fn text(self) -> Record<RecordedLane> {
        let computes = <E::Compute as Element>::DTYPE;
        Scan::of::<E, E>(&format!("own_{}_{AT}", R::NAME), computes).read(self).map(RecordedLane::Scan)
    }
}
impl<R: Reducer<N>, E: Float, const N: usize, const AT: usize> LaneKernel<E::Complex, E> for OfTwo<R, E, N, AT> {
    type Scratch = ();
    fn lane(self, from: &[E::Complex], to: &mut [E], (): &mut ()) {
        LaneKernel::<E::Complex, E>::columns(self, &OneLane::new(from, to), &mut ());
    }
    const ALL_BY_COLUMNS: bool = true;
    #[inline(always)]
    fn columns(self, lanes: &impl LaneColumns<E::Complex, E>, (): &mut ()) {
        descend(self, lanes, |pair: E::Complex| pair.to_compute(), |out: Part<E>| out.cast());
    }
    fn text(self) -> Record<RecordedLane> {
        let computes = <Pair<E> as Element>::DTYPE;
        Scan::of::<E::Complex, E>(&format!("own_{}_{AT}", R::NAME), computes).read(self).map(RecordedLane::Scan)
    }
}
