//! The shapes of diagonals, and of the matrices made of them.

use super::arithmetic::Smaller;
use super::axis::{Axes, Axis, DistinctAxes};
use super::dim::{Dim, Dyn};
use super::{HasAxis, InsertAxis, Shape};
use crate::sealed::Sealed;

/// The diagonals of the planes of axes `I` and `J`: the other axes, then the positions of a diagonal as the last axis.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` has no diagonals in the plane of axes {I} and {J}",
    label = "expected two axes of the tensor"
)]
pub trait Diagonals<const I: isize, const J: isize>: Sealed {
    /// The shape with `Len` positions per diagonal.
    type Of<Len: Dim>: Shape;
}
type Others<S, const I: isize, const J: isize> = <DistinctAxes<(Axis<I>, Axis<J>)> as Axes<S>>::Reduced;
#[diagnostic::do_not_recommend]
impl<const I: isize, const J: isize, S> Diagonals<I, J> for S
where
    S: Shape,
    DistinctAxes<(Axis<I>, Axis<J>)>: Axes<S>,
    Others<S, I, J>: InsertAxis<-1>,
{
    type Of<Len: Dim> = <Others<S, I, J> as InsertAxis<-1>>::Inserted<Len>;
}

/// The main diagonals of the planes of axes `I` and `J`, whose length is known if the sizes of both axes are.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` has no main diagonals in the plane of axes {I} and {J}",
    label = "expected two axes of the tensor"
)]
pub trait MainDiagonals<const I: isize, const J: isize>: Sealed {
    /// The other axes, then the positions of a diagonal as the last axis.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, const J: isize, S, Len> MainDiagonals<I, J> for S
where
    S: Shape + HasAxis<I> + HasAxis<J> + Diagonals<I, J>,
    <<S as HasAxis<I>>::Dim as Dim>::Unnamed: Smaller<<<S as HasAxis<J>>::Dim as Dim>::Unnamed, Output = Len>,
    Len: Dim,
{
    type Output = <S as Diagonals<I, J>>::Of<Len>;
}

/// A vector, from which `diag` makes a matrix, or a matrix, whose diagonal it takes.
#[diagnostic::on_unimplemented(
    message = "`diag` takes vectors and matrices, not tensors of shape `{Self}`",
    label = "expected one axis or two",
    note = "`diag_embed` makes batches of matrices, and `diagonal` takes diagonals of them"
)]
pub trait Diag: Sealed {
    /// For the main diagonal: a matrix from a vector, a vector from a matrix.
    type Main: Shape;
    /// The same for any diagonal.
    type Any: Shape;
}
impl<A: Dim> Diag for (A,) {
    type Main = (A, A);
    type Any = (Dyn, Dyn);
}
#[diagnostic::do_not_recommend]
impl<A: Dim, B: Dim, Len: Dim> Diag for (A, B)
where
    A::Unnamed: Smaller<B::Unnamed, Output = Len>,
{
    type Main = (Len,);
    type Any = (Dyn,);
}

/// A matrix.
#[diagnostic::on_unimplemented(
    message = "`trace` takes matrices, not tensors of shape `{Self}`",
    label = "expected two axes",
    note = "for batches of matrices: `x.diagonal(axis![-2, -1]).sum_axis(axis![-1])`"
)]
pub trait OneMatrix: Sealed {}
impl<A: Dim, B: Dim> OneMatrix for (A, B) {}

/// The shape with its last axis embedded as the diagonal of matrices.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be embedded as diagonals",
    label = "expected from one to seven axes"
)]
pub trait DiagEmbed: Sealed {
    /// With the main diagonal.
    type Main: Shape;
    /// With any diagonal.
    type Any: Shape;
}
#[diagnostic::do_not_recommend]
impl<S, Longer> DiagEmbed for S
where
    S: Shape + InsertAxis<-1> + HasAxis<-1, Replace<Dyn> = Longer>,
    Longer: Shape + InsertAxis<-1>,
{
    type Main = <S as InsertAxis<-1>>::Inserted<<S as HasAxis<-1>>::Dim>;
    type Any = <Longer as InsertAxis<-1>>::Inserted<Dyn>;
}
