//! The shapes of reshaped tensors: `reshape`, `flatten`, `unflatten`; and shapes of one element.

use super::dim::{Dim, Dyn, Known, SameDim};
use super::list::{Cons, List, Next, Nil, ToShape, Zero};
use super::numeral::D1;
use super::{HasAxis, Shape};
use crate::sealed::Sealed;

/// A tensor of this shape may be reshaped to `To`: the numbers of elements may be equal (compared at compile time if both are known, else
/// at run time).
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be reshaped to `{To}`",
    label = "the number of elements is not the same",
    note = "let one size follow from the others, as in `shape![_, 384]`; `D3<D8<D4>>` is 384"
)]
pub trait ReshapeTo<To>: Sealed {}
#[diagnostic::do_not_recommend]
impl<S: Shape, T: Shape> ReshapeTo<T> for S where <S::Numel as Dim>::Unnamed: SameDim<<T::Numel as Dim>::Unnamed> {}

/// A shape whose sizes follow from the number of elements: at most one is `_` (PyTorch's -1).
#[diagnostic::on_unimplemented(
    message = "the sizes of `{Self}` do not follow from the number of elements",
    label = "at most one size may be `_`, and none a name",
    note = "use the method that takes the sizes: `reshape_sized`"
)]
pub trait Inferable: Shape {}
#[diagnostic::do_not_recommend]
impl<S: Shape> Inferable for S where S::Axes: AtMostOneDyn {}

pub trait AllKnown {}
impl AllKnown for Nil {}
impl<Head: Known, Tail: AllKnown> AllKnown for Cons<Head, Tail> {}
pub trait AtMostOneDyn {}
impl AtMostOneDyn for Nil {}
impl<Head: Known, Tail: AtMostOneDyn> AtMostOneDyn for Cons<Head, Tail> {}
impl<Tail: AllKnown> AtMostOneDyn for Cons<Dyn, Tail> {}

/// A shape that may have exactly one element, for `item`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` does not have exactly one element",
    label = "`item` reads tensors of one element",
    note = "use `to_vec()`, an index such as `x[(0, 0)]`, or reduce first"
)]
pub trait OneElement: Shape {}
#[diagnostic::do_not_recommend]
impl<S: Shape> OneElement for S where <S::Numel as Dim>::Unnamed: SameDim<D1> {}

/// Axes `I` to `J`, both included, can be flattened into one.
#[diagnostic::on_unimplemented(
    message = "axes {I} to {J} of a tensor of shape `{Self}` can't be flattened",
    label = "an axis does not exist, or the second comes before the first"
)]
pub trait Flatten<const I: isize, const J: isize>: Sealed {
    /// The shape with the product of the sizes in place of the axes.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, const J: isize, S> Flatten<I, J> for S
where
    S: Shape + HasAxis<I> + HasAxis<J>,
    S::Axes: FlattenFrom<<S as HasAxis<I>>::Position, <S as HasAxis<J>>::Position>,
    <S::Axes as FlattenFrom<<S as HasAxis<I>>::Position, <S as HasAxis<J>>::Position>>::Output: ToShape,
{
    type Output =
        <<S::Axes as FlattenFrom<<S as HasAxis<I>>::Position, <S as HasAxis<J>>::Position>>::Output as ToShape>::Shape;
}

/// Skips to the first axis of the range.
pub trait FlattenFrom<Start, Last> {
    type Output: List;
}
impl FlattenFrom<Zero, Zero> for Nil {
    // A zero-dim tensor flattens to one axis of size 1.
    type Output = Cons<D1, Nil>;
}
impl<Head: Dim, Tail: List, Last> FlattenFrom<Zero, Last> for Cons<Head, Tail>
where
    Cons<Head, Tail>: FlattenThrough<Last, D1>,
{
    type Output = <Self as FlattenThrough<Last, D1>>::Output;
}
impl<Head: Dim, Tail, Start, Last> FlattenFrom<Next<Start>, Next<Last>> for Cons<Head, Tail>
where
    Tail: FlattenFrom<Start, Last>,
{
    type Output = <Tail::Output as List>::Push<Head>;
}

/// Multiplies sizes up to the last axis of the range.
pub trait FlattenThrough<Last, Product> {
    type Output: List;
}
impl<Head: Dim, Tail: List, Product: Dim> FlattenThrough<Zero, Product> for Cons<Head, Tail> {
    type Output = Cons<Product::Times<Head>, Tail>;
}
impl<Head: Dim, Tail, Last, Product: Dim> FlattenThrough<Next<Last>, Product> for Cons<Head, Tail>
where
    Tail: FlattenThrough<Last, Product::Times<Head>>,
{
    type Output = Tail::Output;
}

/// Axis `I` can be split into axes of the sizes `Sizes` (a shape).
#[diagnostic::on_unimplemented(
    message = "axis {I} of a tensor of shape `{Self}` can't be split into `{Sizes}`",
    label = "the product of the new sizes must be the size of the axis",
    note = "the number of elements stays the same: let one size follow from the others"
)]
pub trait Unflatten<const I: isize, Sizes>: Sealed {
    /// The shape with the sizes in place of the axis.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, S, T: Shape> Unflatten<I, T> for S
where
    S: Shape + HasAxis<I>,
    <<S as HasAxis<I>>::Dim as Dim>::Unnamed: SameDim<<T::Numel as Dim>::Unnamed>,
    S::Axes: Splice<<S as HasAxis<I>>::Position, T::Axes>,
    <S::Axes as Splice<<S as HasAxis<I>>::Position, T::Axes>>::Output: ToShape,
{
    type Output = <<S::Axes as Splice<<S as HasAxis<I>>::Position, T::Axes>>::Output as ToShape>::Shape;
}

/// Replaces the axis at a position by a list.
pub trait Splice<Position, New> {
    type Output: List;
}
impl<Head: Dim, Tail: List, New: List> Splice<Zero, New> for Cons<Head, Tail> {
    type Output = New::Append<Tail>;
}
impl<Head: Dim, Tail: Splice<N, New>, N, New> Splice<Next<N>, New> for Cons<Head, Tail> {
    type Output = <Tail::Output as List>::Push<Head>;
}
