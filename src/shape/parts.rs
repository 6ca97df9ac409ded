//! The shapes of tensors split, repeated, padded and rotated.

use super::arithmetic::{ConvSize, DivideExactly, Padded, Sum};
use super::axis::{Axes, Axis, DistinctAxes};
use super::dim::{Dim, Dyn, Known, SameDim};
use super::numeral::{D0, D1};
use super::tuple::{each_rank, each_suffix};
use super::{HasAxis, InsertAxis, Shape, Transpose};
use crate::dim;
use crate::sealed::Sealed;

/// A shape with at least one axis.
#[diagnostic::on_unimplemented(
    message = "a zero-dim tensor has no axis, and this operation needs one",
    label = "expected a tensor of at least one axis",
    note = "give it one: `reshape::<shape![1]>()`"
)]
pub trait Dimensional: Shape {}

/// A shape with at least two axes: a matrix, or a batch of matrices.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` is no matrix",
    label = "expected a tensor of at least two axes: the last two are rows and columns",
    note = "`.unsqueeze(axis![0])` or `.reshape::<shape![…]>()` makes one of a vector, `diag` the matrix with it on its diagonal; in generic code, give the shape its axes: `(M, N)` of `M: Dim, N: Dim`"
)]
pub trait Matrices: Shape {}

macro_rules! ranks {
    ($rank:literal [$first:ident $($rest:ident)*] $positive:tt $negative:tt) => {
        impl<$first: Dim, $($rest: Dim,)*> Dimensional for ($first, $($rest,)*) {}
        ranks!(@matrices $first $($rest)*);
    };
    (@matrices $alone:ident) => {};
    (@matrices $($dim:ident)+) => {
        #[diagnostic::do_not_recommend]
        impl<$($dim: Dim,)+> Matrices for ($($dim,)+) {}
    };
}
each_rank!(ranks);

/// Axes in the order they are named, each of which may take its own argument (`roll_axis`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not list axes of a tensor of shape `{S}`",
    label = "expected `axis![0]` or `axis![0, 2]`, each axis in range",
    note = "axes come before the numbers that belong to them: `x.roll_axis(axis![0], 1)`"
)]
pub trait AxisList<S: Shape>: Axes<S> {
    /// One number per axis: `isize` for one axis, an array for several.
    type Shifts: Shifts;
    /// The axes, counted from the first.
    const INDICES: &'static [usize];
}
/// One number or several.
pub trait Shifts: Sealed + Copy {
    /// All of them.
    fn shifts(&self) -> &[isize];
}
impl Shifts for isize {
    fn shifts(&self) -> &[isize] {
        core::slice::from_ref(self)
    }
}
impl<const N: usize> Shifts for [isize; N] {
    fn shifts(&self) -> &[isize] {
        self
    }
}
impl<const I: isize, S: Shape + HasAxis<I>> AxisList<S> for Axis<I> {
    type Shifts = isize;
    const INDICES: &'static [usize] = &[<S as HasAxis<I>>::INDEX];
}
macro_rules! axis_list {
    ($rank:literal [$($axis:ident)+] $positive:tt $negative:tt) => {
        #[allow(non_upper_case_globals)]
        impl<$(const $axis: isize,)+ S: Shape> AxisList<S> for DistinctAxes<($(Axis<$axis>,)+)>
        where
            Self: Axes<S>,
            $(S: HasAxis<$axis>,)+
        {
            type Shifts = [isize; $rank];
            const INDICES: &'static [usize] = &[$(<S as HasAxis<$axis>>::INDEX),+];
        }
    };
}
each_rank!(axis_list);

/// Axis `I` can be moved to position `J`, the others keeping their order.
#[diagnostic::on_unimplemented(
    message = "axis {I} of a tensor of shape `{Self}` can't become axis {J}",
    label = "one of the axes does not exist",
    note = "axes count from 0, or from -1 backwards"
)]
pub trait MoveAxis<const I: isize, const J: isize>: Sealed {
    /// The shape with the moved axis.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, const J: isize, S> MoveAxis<I, J> for S
where
    S: Shape + HasAxis<I> + HasAxis<J>,
    <S as HasAxis<I>>::Removed: InsertAxis<J>,
{
    type Output = <<S as HasAxis<I>>::Removed as InsertAxis<J>>::Inserted<<S as HasAxis<I>>::Dim>;
}

/// The plane of axes `I` and `J` can be rotated by `K` right angles.
#[diagnostic::on_unimplemented(
    message = "a plane of a tensor of shape `{Self}` can't be turned {K} times",
    label = "expected two axes of the tensor, and from -4 to 4 turns"
)]
pub trait Rotate<const K: isize, const I: isize, const J: isize>: Sealed {
    /// The rotated shape: an odd number of right angles swaps the sizes of the two axes.
    type Output: Shape;
}
macro_rules! rotate {
    ($even:tt, $odd:tt) => {
        rotate!(@each $even |S, I, J| S);
        rotate!(@each $odd |S, I, J| <S as Transpose<I, J>>::Output);
    };
    (@each [$($turns:literal)+] |$s:ident, $i:ident, $j:ident| $output:ty) => {$(
        #[diagnostic::do_not_recommend]
        impl<const $i: isize, const $j: isize, $s> Rotate<$turns, $i, $j> for $s
        where
            $s: Shape + Transpose<$i, $j>,
            DistinctAxes<(Axis<$i>, Axis<$j>)>: Axes<$s>,
        {
            type Output = $output;
        }
    )+};
}
rotate!([-4 -2 0 2 4], [-3 -1 1 3]);

/// A tensor of this shape can be repeated `Counts` times along each axis, with new axes in front.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be repeated `{Counts}` times",
    label = "there must be a count for each axis; further counts come in front",
    note = "`tile` takes fewer counts than axes"
)]
pub trait Repeat<Counts>: Sealed {
    /// The shape of the repeated tensor.
    type Output: Shape;
}
/// [`Repeat`] with any number of counts: missing ones in front are 1.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be repeated `{Counts}` times",
    label = "expected a shape that says how often for each axis, such as `shape![2, 1]`"
)]
pub trait Tile<Counts>: Sealed {
    /// The shape of the repeated tensor.
    type Output: Shape;
}
macro_rules! repeat {
    ([$($lead:ident)*] $(($a:ident $b:ident))*) => {
        impl<$($lead: Dim,)* $($a: Dim, $b: Dim,)*> Repeat<($($lead,)* $($b,)*)> for ($($a,)*) {
            type Output = ($($lead,)* $($a::Times<$b>,)*);
        }
        impl<$($lead: Dim,)* $($a: Dim, $b: Dim,)*> Tile<($($lead,)* $($b,)*)> for ($($a,)*) {
            type Output = ($($lead,)* $($a::Times<$b>,)*);
        }
        repeat!(@shorter [$($lead)*] $(($a $b))*);
    };
    (@shorter [] $($pair:tt)*) => {};
    (@shorter [$($lead:ident)+] $(($a:ident $b:ident))*) => {
        impl<$($lead: Dim,)* $($a: Dim, $b: Dim,)*> Tile<($($b,)*)> for ($($lead,)* $($a,)*) {
            type Output = ($($lead,)* $($a::Times<$b>,)*);
        }
    };
}
each_suffix!(repeat);
impl Repeat<()> for () {
    type Output = ();
}
impl Tile<()> for () {
    type Output = ();
}

/// A tensor of this shape can be padded by `Amounts`: before and after the last axis, then the one before it, and so on.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be padded by `{Amounts}`",
    label = "expected two amounts for each padded axis, from the last axis on",
    note = "the amounts are a shape, as in `pad::<shape![1, 1], _>(…)`, or an array, as in `pad_sized([1, 1], …)`; they are for at most four axes"
)]
pub trait Pad<Amounts>: Sealed {
    /// The padded shape.
    type Output: Shape;
}
impl<S: Shape, Before: Dim, After: Dim> Pad<(Before, After)> for S {
    type Output = <S as HasAxis<-1>>::Replace<Padded<<S as HasAxis<-1>>::Dim, Before, After>>;
}
impl<S: Shape> Pad<[isize; 2]> for S {
    type Output = <S as HasAxis<-1>>::Replace<Dyn>;
}
/// For further axes: `[isize; 4] -2 [B1 A1] B2 A2` writes the impls for two axes from those for one.
macro_rules! pad {
    ($([isize; $count:literal] after [isize; $fewer:literal], $axis:literal [$($inner:ident)+] $before:ident $after:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S: Shape, $($inner: Dim,)+ $before: Dim, $after: Dim, Padded1> Pad<($($inner,)+ $before, $after)> for S
        where
            S: Pad<($($inner,)+), Output = Padded1>,
            Padded1: Shape + HasAxis<$axis>,
        {
            type Output = <Padded1 as HasAxis<$axis>>::Replace<Padded<<Padded1 as HasAxis<$axis>>::Dim, $before, $after>>;
        }
        #[diagnostic::do_not_recommend]
        impl<S: Shape, Padded1> Pad<[isize; $count]> for S
        where
            S: Pad<[isize; $fewer], Output = Padded1>,
            Padded1: Shape + HasAxis<$axis>,
        {
            type Output = <Padded1 as HasAxis<$axis>>::Replace<Dyn>;
        }
    )*};
}
pad! {
    [isize; 4] after [isize; 2], -2 [B1 A1] B2 A2;
    [isize; 6] after [isize; 4], -3 [B1 A1 B2 A2] B3 A3;
    [isize; 8] after [isize; 6], -4 [B1 A1 B2 A2 B3 A3] B4 A4;
}

/// Axis `I` can be split into parts of the sizes `Sizes` (a shape).
#[diagnostic::on_unimplemented(
    message = "axis {I} of a tensor of shape `{Self}` can't be cut into parts of sizes `{Sizes}`",
    label = "the sizes of the parts must add up to the size of the axis",
    note = "there are at most eight parts; `split_sizes` takes any number of sizes while running"
)]
pub trait Cut<const I: isize, Sizes>: Sealed {
    /// The shapes of the parts, as a tuple.
    type Shapes;
}
macro_rules! cut {
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        #[diagnostic::do_not_recommend]
        impl<const I: isize, S, $($dim: Dim,)+> Cut<I, ($($dim,)+)> for S
        where
            S: Shape + HasAxis<I>,
            <<S as HasAxis<I>>::Dim as Dim>::Unnamed: SameDim<<cut!(@sum [D0] $($dim)+) as Dim>::Unnamed>,
        {
            type Shapes = ($(<S as HasAxis<I>>::Replace<$dim>,)+);
        }
    };
    (@sum [$sum:ty]) => { $sum };
    (@sum [$sum:ty] $next:ident $($rest:ident)*) => { cut!(@sum [Sum<$sum, $next>] $($rest)*) };
}
each_rank!(cut);

/// A number as a const parameter, for results that are arrays: see [`Counted`].
pub struct Count<const N: usize>;
/// A number that is both a const parameter and a dimension: 1 to 64.
#[diagnostic::on_unimplemented(
    message = "arrays of this length are not made here: the compiler counts parts from 1 to 64",
    label = "expected from 1 to 64 parts",
    note = "the method that gives a vector makes any number"
)]
pub trait Counted: Sealed {
    /// The dimension.
    type Dim: Known;
}
impl<const N: usize> Sealed for Count<N> {}
macro_rules! counted {
    ($($number:tt)*) => {$(
        impl Counted for Count<$number> {
            type Dim = dim!($number);
        }
    )*};
}
counted! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45
    46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
}

/// Axis `I` can be split into `N` equal parts.
#[diagnostic::on_unimplemented(
    message = "axis {I} of a tensor of shape `{Self}` can't be cut into {N} equal parts",
    label = "the number of parts must divide the size of the axis",
    note = "`tensor_split` makes parts that differ by one, `chunk` a smaller last one"
)]
pub trait CutEqually<const I: isize, const N: usize>: Sealed {
    /// The shape of each part.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, const N: usize, S> CutEqually<I, N> for S
where
    S: Shape + HasAxis<I>,
    Count<N>: Counted,
    <S as HasAxis<I>>::Dim: DivideExactly<<Count<N> as Counted>::Dim>,
{
    type Output =
        <S as HasAxis<I>>::Replace<<<S as HasAxis<I>>::Dim as DivideExactly<<Count<N> as Counted>::Dim>>::Output>;
}

/// Axis `I` has size `N`, or a size known at run time.
#[diagnostic::on_unimplemented(
    message = "axis {I} of a tensor of shape `{Self}` does not have {N} positions",
    label = "the array must be as long as the axis",
    note = "name as many positions as there are, or take a vector of any length from `unbind`"
)]
pub trait Unbind<const I: isize, const N: usize>: Sealed {
    /// The shape without the axis.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, const N: usize, S> Unbind<I, N> for S
where
    S: Shape + HasAxis<I>,
    Count<N>: Counted,
    <<S as HasAxis<I>>::Dim as Dim>::Unnamed: SameDim<<Count<N> as Counted>::Dim>,
{
    type Output = <S as HasAxis<I>>::Removed;
}

/// Windows of `Size` positions with step `Step` fit axis `I`.
#[diagnostic::on_unimplemented(
    message = "windows of `{Size}`, `{Step}` apart, do not fit axis {I} of a tensor of shape `{Self}`",
    label = "the window is larger than the axis, or the step is 0",
    note = "the size of a window is at most that of the axis, and its step at least 1; `pad` makes an axis longer"
)]
pub trait Windows<const I: isize, Size, Step>: Sealed {
    /// The shape with the number of windows as axis `I`, and the positions of a window as a new last axis.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, Size: Dim, Step: Dim, S, Places> Windows<I, Size, Step> for S
where
    S: Shape + HasAxis<I>,
    <S as HasAxis<I>>::Dim: ConvSize<Size, Step, D0, D1, Output = Places>,
    Places: Dim,
    <S as HasAxis<I>>::Replace<Places>: InsertAxis<-1>,
{
    type Output = <<S as HasAxis<I>>::Replace<Places> as InsertAxis<-1>>::Inserted<Size>;
}

/// Weights for sampling: a vector, or a matrix with one row per sample.
#[diagnostic::on_unimplemented(
    message = "`multinomial` takes a vector or a matrix of weights, not a tensor of shape `{Self}`",
    label = "expected one axis or two"
)]
pub trait Weights: Sealed {}
impl<A: Dim> Weights for (A,) {}
impl<A: Dim, B: Dim> Weights for (A, B) {}
