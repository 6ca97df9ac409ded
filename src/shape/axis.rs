//! Axes: naming them in the type, checking them against a rank, removing and inserting them.
//!
//! As in PyTorch, an axis may be negative (`-1` is the last one), and a zero-dim tensor accepts axes 0 and -1 as if it had one axis of size
//! 1.

use super::dim::Dim;
use super::list::{List, Next, OpenList, Take, ToShape, Zero};
use super::numeral::D1;
use super::placement::{Debt, Placement, Reduction};
use super::sealed::Tuple;
use super::tuple::each_rank;
use super::{Shape, sealed};
use crate::sealed::Sealed;

/// One axis of a tensor, counted from the first, or from the last if negative. [`axis!`](crate::axis!) writes it.
///
/// ```
/// use castiron::{axis, tensor, Axis};
/// let x = tensor![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(x.sum_axis(Axis::<0>).to_vec(), [5, 7, 9]);
/// assert_eq!(x.sum_axis(axis![-1]).to_vec(), [6, 15]);
/// assert_eq!(x.sum_axis(axis![0, 1]).item(), 21);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis<const I: isize>;

impl<const I: isize> Axis<I> {
    /// Keeps the axis in the result, with size 1 (PyTorch's `keepdim=True`).
    pub const fn keepdim(self) -> KeepDim<Self> {
        KeepDim(self)
    }
}

/// Axes that a reduction keeps, with size 1 (PyTorch's `keepdim=True`).
///
/// ```
/// use castiron::{axis, shape, tensor, Tensor};
/// let x = tensor![[1.0, 2.0], [3.0, 5.0]];
/// let means: Tensor<f32, shape![2, 1]> = x.mean_axis(axis![1].keepdim());
/// assert_eq!((x - means).to_vec(), [-0.5, 0.5, -1.0, 1.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepDim<A>(pub A);

/// Names axes: `axis![-1]` is [`Axis::<-1>`](Axis), `axis![0, 2]` is several.
///
/// ```
/// use castiron::{axis, tensor};
/// let x = tensor![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(x.permute(axis![1, 0]).shape(), [3, 2]);
/// assert_eq!(x.amax_axis(axis![1].keepdim()).shape(), [2, 1]);
/// ```
#[macro_export]
macro_rules! axis {
    ($axis:expr) => { $crate::Axis::<{ $axis }> };
    ($($axis:expr),+ $(,)?) => { $crate::shape::DistinctAxes(($($crate::Axis::<{ $axis }>,)+)) };
}

/// Several axes, each named once: the type of `axis![0, 2]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DistinctAxes<T>(pub T);

impl<T> DistinctAxes<T> {
    /// Keeps the axes in the result, with size 1 (PyTorch's `keepdim=True`).
    pub const fn keepdim(self) -> KeepDim<Self> {
        KeepDim(self)
    }
}

/// Axis `I` as an argument: [`Axis<I>`](Axis), which [`axis!`](crate::axis!) writes.
///
/// Implemented by `Axis<I>` only. Methods take this trait instead of the type, so that an axis written as a number gets the message above
/// instead of a type mismatch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis: axes are types, written `axis![0]` or `axis![-1]`",
    label = "expected `axis![…]`",
    note = "the compiler checks axes, so they are not numbers of the program; an `AnyTensor` takes numbers",
    note = "an axis comes before other arguments: `x.split(axis![0], 256)`, `x.select(axis![0], 2)`"
)]
pub trait AxisArg<const I: isize>: Sealed + Copy {}
impl<const I: isize> Sealed for Axis<I> {}
#[diagnostic::do_not_recommend]
impl<const I: isize> AxisArg<I> for Axis<I> {}

/// The shape has an axis `I`.
///
/// Every [`Shape`] implements `HasAxis<-1>`.
#[diagnostic::on_unimplemented(
    message = "axis {I} is out of range for a tensor of shape `{Self}`",
    label = "there is no such axis",
    note = "axes count from 0, or from -1 backwards: `axis![0]` is the first, `axis![-1]` the last"
)]
pub trait HasAxis<const I: isize>: Tuple {
    /// The axis counted from the first.
    const INDEX: usize;
    /// The size of the axis.
    type Dim: Dim;
    /// The shape without the axis.
    type Removed: Shape;
    /// The shape with size 1 for the axis.
    type Kept: Shape;
    /// The shape with another size for the axis.
    type Replace<D: Dim>: Shape;
    /// The position of the axis, for recursive rules.
    #[doc(hidden)]
    type Position;
}

/// A zero-dim tensor accepts axis 0 and -1.
macro_rules! zero_dim_axis {
    ($($axis:literal)*) => {$(
        impl HasAxis<$axis> for () {
            const INDEX: usize = 0;
            type Dim = D1;
            type Removed = ();
            type Kept = ();
            type Replace<D: Dim> = ();
            type Position = Zero;
        }
    )*};
}
zero_dim_axis!(0 - 1);

/// For rank 3 and the axis 1 it expands to
/// `impl HasAxis<1> for (A, B, C) { type Dim = B; type Removed = (A, C); type Kept = (A, D1, C); … }`, for each
/// axis from the front and from the back.
macro_rules! has_axis {
    ($rank:literal [$($dim:ident)+] [$($positive:literal)+] [$($negative:literal)+]) => {
        has_axis!(@each [] [$($dim)+] [$($positive)+] [$($negative)+] Zero);
    };
    (@each [$($before:ident)*] [$dim:ident $($after:ident)*] [$positive:literal $($positives:literal)*] [$negative:literal $($negatives:literal)*] $position:ty) => {
        has_axis!(@one $positive, $positive, [$($before)*] $dim [$($after)*] $position);
        has_axis!(@one $negative, $positive, [$($before)*] $dim [$($after)*] $position);
        has_axis!(@each [$($before)* $dim] [$($after)*] [$($positives)*] [$($negatives)*] Next<$position>);
    };
    (@each $before:tt [] [] [] $position:ty) => {};
    (@one $axis:literal, $index:literal, [$($before:ident)*] $dim:ident [$($after:ident)*] $position:ty) => {
        impl<$($before: Dim,)* $dim: Dim, $($after: Dim,)*> HasAxis<$axis> for ($($before,)* $dim, $($after,)*) {
            const INDEX: usize = $index;
            type Dim = $dim;
            type Removed = ($($before,)* $($after,)*);
            type Kept = ($($before,)* D1, $($after,)*);
            type Replace<New: Dim> = ($($before,)* New, $($after,)*);
            type Position = $position;
        }
    };
}
each_rank!(has_axis);

/// A set of axes of a shape: [`Axis`], `axis![0, 2]`, either with `.keepdim()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes of a tensor of shape `{S}`",
    label = "expected `axis![0]`, `axis![0, 2]`, or either with `.keepdim()`"
)]
pub trait Axes<S: Shape>: sealed::Axes + Copy {
    /// The shape after reducing over the axes.
    type Reduced: Shape;
    /// The shape after reducing over the axes and keeping them with size 1.
    type Kept: Shape;
    /// Whether `Reduced` keeps the axes.
    const KEEPS: bool;
    /// The axes as a set: bit `i` is axis `i`.
    const MASK: u32;
    /// The axes in the order they are named, counted from the first.
    const LIST: &'static [usize];
    /// The sizes of the axes in that order, as a tuple.
    #[doc(hidden)]
    type Sizes;
    /// What is left to be put together once the axes have been reduced by `Op`: for `castiron-mesh`.
    #[doc(hidden)]
    type After<Op: Reduction, U: Debt>: Debt;
}

impl<const I: isize, S: Shape + HasAxis<I>> Axes<S> for Axis<I> {
    type Reduced = <S as HasAxis<I>>::Removed;
    type Kept = <S as HasAxis<I>>::Kept;
    const KEEPS: bool = false;
    const MASK: u32 = 1 << <S as HasAxis<I>>::INDEX;
    const LIST: &'static [usize] = &[<S as HasAxis<I>>::INDEX];
    type Sizes = (<S as HasAxis<I>>::Dim,);
    type After<Op: Reduction, U: Debt> = <<<S as HasAxis<I>>::Dim as Dim>::Placement as Placement>::After<Op, U>;
}
impl<A: Axes<S>, S: Shape> Axes<S> for KeepDim<A> {
    type Reduced = A::Kept;
    type Kept = A::Kept;
    const KEEPS: bool = true;
    const MASK: u32 = A::MASK;
    const LIST: &'static [usize] = A::LIST;
    type Sizes = A::Sizes;
    type After<Op: Reduction, U: Debt> = A::After<Op, U>;
}

/// One axis, kept or not: the argument of `argmax_axis` and similar methods.
#[diagnostic::on_unimplemented(
    message = "this operation takes one axis of a tensor of shape `{S}`, not `{Self}`",
    label = "expected one axis: `axis![0]`, or `axis![0].keepdim()`"
)]
pub trait OneAxis<S: Shape>: Axes<S> {}
impl<const I: isize, S: Shape + HasAxis<I>> OneAxis<S> for Axis<I> {}
impl<const I: isize, S: Shape + HasAxis<I>> OneAxis<S> for KeepDim<Axis<I>> {}

/// `Axes`, a tuple of [`Axis`], names axes of this shape, each once.
#[diagnostic::on_unimplemented(
    message = "`{Axes}` names an axis twice, in a tensor of shape `{Self}`",
    label = "each axis is named once",
    note = "negative axes count from the end: `-1` is the last"
)]
pub trait NamesOnce<Axes> {
    /// The axes that are not named.
    type Rest: OpenList;
}
#[diagnostic::do_not_recommend]
impl<S: Shape, A, Open, Rest: OpenList> NamesOnce<A> for S
where
    S::Axes: List<Open = Open>,
    Open: TakeAll<S, A, Rest = Rest>,
{
    type Rest = Rest;
}

/// Takes several axes from an open list, one after another.
pub trait TakeAll<S, Axes> {
    type Rest: OpenList;
}
impl<L: OpenList, S> TakeAll<S, ()> for L {
    type Rest = L;
}

macro_rules! several_axes {
    ($rank:literal [$($name:ident)+] $positive:tt $negative:tt) => {
        several_axes!(@impl [$($name)+]);
    };
    (@impl [$first:ident $($rest:ident)*]) => {
        #[allow(non_upper_case_globals)]
        #[diagnostic::do_not_recommend]
        impl<const $first: isize, $(const $rest: isize,)* S, L, Taken, Rest: OpenList> TakeAll<S, (Axis<$first>, $(Axis<$rest>,)*)> for L
        where
            S: HasAxis<$first>,
            L: Take<<S as HasAxis<$first>>::Position, Rest = Taken>,
            Taken: TakeAll<S, ($(Axis<$rest>,)*), Rest = Rest>,
        {
            type Rest = Rest;
        }

        impl<const $first: isize, $(const $rest: isize,)* S: Shape, Rest, Left, Kept> Axes<S> for DistinctAxes<(Axis<$first>, $(Axis<$rest>,)*)>
        where
            S: HasAxis<$first>, $(S: HasAxis<$rest>,)*
            S: NamesOnce<(Axis<$first>, $(Axis<$rest>,)*), Rest = Rest>,
            Rest: OpenList<Left = Left, Kept = Kept>,
            Left: ToShape,
            Kept: ToShape,
        {
            type Reduced = Left::Shape;
            type Kept = Kept::Shape;
            const KEEPS: bool = false;
            const MASK: u32 = (1 << <S as HasAxis<$first>>::INDEX) $(| (1 << <S as HasAxis<$rest>>::INDEX))*;
            const LIST: &'static [usize] = &[<S as HasAxis<$first>>::INDEX $(, <S as HasAxis<$rest>>::INDEX)*];
            type Sizes = (<S as HasAxis<$first>>::Dim, $(<S as HasAxis<$rest>>::Dim,)*);
            type After<Op: Reduction, U: Debt> = several_axes!(@after Op, S, [U] $first $($rest)*);
        }
    };
    (@after $op:ident, $shape:ident, [$owed:ty]) => { $owed };
    (@after $op:ident, $shape:ident, [$owed:ty] $first:ident $($rest:ident)*) => {
        several_axes!(@after $op, $shape,
            [<<<$shape as HasAxis<$first>>::Dim as Dim>::Placement as Placement>::After<$op, $owed>] $($rest)*)
    };
}
each_rank!(several_axes);

/// A new axis of size `D` can be inserted at position `I` of the result (`unsqueeze`, `stack`).
#[diagnostic::on_unimplemented(
    message = "a new axis {I} is out of range for a tensor of shape `{Self}`",
    label = "there is no such position",
    note = "positions count in the result: `axis![0]` is in front, `axis![-1]` at the end; shapes have at most eight axes"
)]
pub trait InsertAxis<const I: isize>: Sealed {
    /// The position of the new axis, counted from the first.
    const INDEX: usize;
    /// The shape with the new axis.
    type Inserted<New: Dim>: Shape;
}

/// For rank 2 and position 1 it expands to `impl InsertAxis<1> for (A, B) { type Inserted<New> = (A, New, B); }`.
macro_rules! insert_axis {
    (8 $dims:tt $positive:tt $negative:tt) => {};
    ($rank:literal [$($dim:ident)+] [$($positive:literal)+] [$($negative:literal)+]) => {
        insert_axis!(@each [] [$($dim)+] [$($positive)+ $rank] $rank);
    };
    (@each [$($before:ident)*] [$($after:ident)*] [$index:literal $($indices:literal)*] $rank:literal) => {
        insert_axis!(@one $index, $index, [$($before)*] [$($after)*]);
        insert_axis!(@one {$index - $rank - 1}, $index, [$($before)*] [$($after)*]);
        insert_axis!(@next [$($before)*] [$($after)*] [$($indices)*] $rank);
    };
    (@next [$($before:ident)*] [$dim:ident $($after:ident)*] $indices:tt $rank:literal) => {
        insert_axis!(@each [$($before)* $dim] [$($after)*] $indices $rank);
    };
    (@next $before:tt [] [] $rank:literal) => {};
    (@one $axis:tt, $index:literal, [$($before:ident)*] [$($after:ident)*]) => {
        impl<$($before: Dim,)* $($after: Dim,)*> InsertAxis<$axis> for ($($before,)* $($after,)*) {
            const INDEX: usize = $index;
            type Inserted<New: Dim> = ($($before,)* New, $($after,)*);
        }
    };
}
insert_axis!(@one 0, 0, [] []);
insert_axis!(@one {-1}, 0, [] []);
each_rank!(insert_axis);
