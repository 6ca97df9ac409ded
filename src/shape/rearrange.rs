//! The shapes of views that rearrange axes: `transpose`, `permute`, `t`, `squeeze`, `expand`. No element is copied.

use super::axis::{Axis, DistinctAxes, NamesOnce};
use super::dim::{Dim, Known};
use super::list::{Cons, List, Nil, Open, Taken, ToShape};
use super::numeral::*;
use super::tuple::each_rank;
use super::{Broadcast, HasAxis, Shape, WrittenTo, sealed};
use crate::sealed::Sealed;

/// Axes `I` and `J` can be swapped.
#[diagnostic::on_unimplemented(
    message = "axes {I} and {J} of a tensor of shape `{Self}` can't be exchanged",
    label = "one of the axes does not exist",
    note = "axes count from 0, or from -1 backwards: `axis![0]` is the first, `axis![-1]` the last; `unsqueeze` adds one"
)]
pub trait Transpose<const I: isize, const J: isize>: Sealed {
    /// The shape with the two axes swapped.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, const J: isize, S, Half> Transpose<I, J> for S
where
    S: Shape + HasAxis<J> + HasAxis<I, Replace<<S as HasAxis<J>>::Dim> = Half>,
    Half: HasAxis<J>,
{
    type Output = <Half as HasAxis<J>>::Replace<<S as HasAxis<I>>::Dim>;
}

/// The axes can be permuted to the order `Order`, which names every axis once.
#[diagnostic::on_unimplemented(
    message = "`{Order}` is not an order of the axes of a tensor of shape `{Self}`",
    label = "every axis must be named once",
    note = "write the order as `axis![0, 2, 1]`"
)]
pub trait Permute<Order>: sealed::InOrder<Order> {
    /// The shape in the new order.
    type Output: Shape;
    /// For each axis of the result, the axis of the operand.
    const ORDER: &'static [usize];
}
impl<A: Dim, const I: isize> Permute<Axis<I>> for (A,)
where
    (A,): HasAxis<I>,
{
    type Output = (A,);
    const ORDER: &'static [usize] = &[0];
}

/// `Axes`, a tuple of [`Axis`], names every axis of this shape, each once.
#[diagnostic::on_unimplemented(
    message = "`{Axes}` does not name every axis of a tensor of shape `{Self}`",
    label = "every axis must be named once"
)]
pub trait NamesEvery<Axes>: NamesOnce<Axes> {}
#[diagnostic::do_not_recommend]
impl<S: NamesOnce<A, Rest: AllTaken>, A> NamesEvery<A> for S {}

/// No axis is left open.
pub trait AllTaken {}
impl AllTaken for Nil {}
impl<Tail: AllTaken> AllTaken for Cons<Taken, Tail> {}

macro_rules! permute {
    ($rank:literal [$($axis:ident)+] $positive:tt $negative:tt) => {
        #[allow(non_upper_case_globals)]
        impl<$(const $axis: isize,)+ S: Shape> Permute<DistinctAxes<($(Axis<$axis>,)+)>> for S
        where
            $(S: HasAxis<$axis>,)+
            S: NamesEvery<($(Axis<$axis>,)+)>,
        {
            type Output = ($(<S as HasAxis<$axis>>::Dim,)+);
            const ORDER: &'static [usize] = &[$(<S as HasAxis<$axis>>::INDEX),+];
        }
    };
}
each_rank!(permute);

/// A shape of rank at most 2, which `t` transposes.
#[diagnostic::on_unimplemented(
    message = "`t` takes tensors of at most two axes, not of shape `{Self}`",
    label = "rank above 2",
    note = "use `transpose(axis![-2], axis![-1])`, or `permute`"
)]
pub trait Reverse: Sealed {
    /// The transposed shape.
    type Output: Shape;
}
impl Reverse for () {
    type Output = ();
}
impl<A: Dim> Reverse for (A,) {
    type Output = (A,);
}
impl<A: Dim, B: Dim> Reverse for (A, B) {
    type Output = (B, A);
}

/// Axis `I` is removed if its size is 1 and kept if it is another number.
#[diagnostic::on_unimplemented(
    message = "axis {I} of a tensor of shape `{Self}` is not there, or its size is known at run time only",
    label = "the rank of the result depends on whether its size is 1",
    note = "axes count from `axis![0]`, or from `axis![-1]` backwards; state a size with, for example, `.with_shape::<shape![_, 1]>()`"
)]
pub trait SqueezeAxis<const I: isize>: Sealed {
    /// The shape without the axis, or the same shape.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, S: Shape + HasAxis<I>> SqueezeAxis<I> for S
where
    <S as HasAxis<I>>::Dim: IfOne,
{
    type Output = <<S as HasAxis<I>>::Dim as IfOne>::Shape<<S as HasAxis<I>>::Removed, S>;
}

/// Selects `One` for the number 1 and `Other` for other numbers; not implemented for unknown sizes.
pub trait IfOne: Known {
    type Shape<One: Shape, Other: Shape>: Shape;
    type List<One: List, Other: List>: List;
}
impl IfOne for D1 {
    type Shape<One: Shape, Other: Shape> = One;
    type List<One: List, Other: List> = One;
}
macro_rules! not_one {
    ($([$($r:ident)?] $number:ty;)*) => {$(
        impl$(<$r: Numeral>)? IfOne for $number {
            type Shape<One: Shape, Other: Shape> = Other;
            type List<One: List, Other: List> = Other;
        }
    )*};
}
not_one! { [] D0; }
numbers_above_one!(not_one);

/// Every axis of size 1 is removed.
#[diagnostic::on_unimplemented(
    message = "which axes of a tensor of shape `{Self}` have size 1 is known at run time only",
    label = "the rank of the result depends on it",
    note = "name the axis: `squeeze_axis(axis![0])`, or state the sizes with `.with_shape::<…>()`"
)]
pub trait Squeeze: Sealed {
    /// The shape without axes of size 1.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<S: Shape> Squeeze for S
where
    S::Axes: DropOnes,
    <S::Axes as DropOnes>::Output: ToShape,
{
    type Output = <<S::Axes as DropOnes>::Output as ToShape>::Shape;
}

pub trait DropOnes {
    type Output: List;
}
impl DropOnes for Nil {
    type Output = Nil;
}
impl<Head: IfOne, Tail: DropOnes> DropOnes for Cons<Head, Tail> {
    type Output = Head::List<Tail::Output, Cons<Head, Tail::Output>>;
}

/// The axes are removed if their sizes are 1 and kept if they are other numbers.
#[diagnostic::on_unimplemented(
    message = "whether `{Axes}` of a tensor of shape `{Self}` have size 1 is known at run time only",
    label = "the rank of the result depends on it",
    note = "state the sizes first, for example `.with_shape::<shape![_, 1]>()`; each axis is named once"
)]
pub trait SqueezeAxes<Axes>: Sealed {
    /// The shape without the axes of size 1.
    type Output: Shape;
}
/// The list of `S` with the named axes removed if their size is 1.
type Squeezed<S, Named> = <<S as Shape>::Axes as DropTaken<<S as NamesOnce<Named>>::Rest>>::Output;
#[diagnostic::do_not_recommend]
impl<S: Shape, Named> SqueezeAxes<DistinctAxes<Named>> for S
where
    S: NamesOnce<Named>,
    S::Axes: DropTaken<<S as NamesOnce<Named>>::Rest>,
    Squeezed<S, Named>: ToShape,
{
    type Output = <Squeezed<S, Named> as ToShape>::Shape;
}

/// Removes the taken axes of size 1 from a list.
pub trait DropTaken<Rest> {
    type Output: List;
}
impl DropTaken<Nil> for Nil {
    type Output = Nil;
}
impl<Head: Dim, Tail, Rest> DropTaken<Cons<Open<Head>, Rest>> for Cons<Head, Tail>
where
    Tail: DropTaken<Rest>,
{
    type Output = Cons<Head, Tail::Output>;
}
impl<Head: IfOne, Tail, Rest> DropTaken<Cons<Taken, Rest>> for Cons<Head, Tail>
where
    Tail: DropTaken<Rest>,
{
    type Output = Head::List<Tail::Output, Cons<Head, Tail::Output>>;
}

/// A tensor of this shape can be expanded to shape `To` without copying: axes of size 1 are repeated, and new axes are added in front.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be expanded to `{To}`",
    label = "only axes of size 1 expand, and new axes come in front",
    note = "`unsqueeze` puts an axis of size 1 in; `repeat` copies; `D3<D8<D4>>` is 384"
)]
pub trait ExpandTo<To>: Sealed {}
#[diagnostic::do_not_recommend]
impl<S, T> ExpandTo<T> for S
where
    S: Shape + Broadcast<T>,
    <S as Broadcast<T>>::Output: WrittenTo<T>,
{
}
