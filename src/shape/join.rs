//! The shapes of joined tensors: `cat` and `stack`.

use super::dim::{Dim, SameDim};
use super::sealed::Tuple;
use super::tuple::each_rank;
use super::{HasAxis, Shape};
use crate::sealed::Sealed;

/// Two equal shapes: same rank, same size axis by axis. `Output` keeps every size that either side knows.
#[diagnostic::on_unimplemented(
    message = "sparse tensors of shapes `{Self}` and `{Rhs}` don't go together: the shapes differ",
    label = "these tensors must have the same shape",
    note = "`+`, `-` and `stack` of sparse tensors do not broadcast; of strided ones, `.to_dense()`, `+` and `-` do"
)]
pub trait Merge<Rhs>: Tuple {
    /// The shape with every size that either side knows.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl Merge<()> for () {
    type Output = ();
}

macro_rules! merge {
    ($rank:literal [$($a:ident)+] $positive:tt $negative:tt) => {
        merge!(@pair [$($a)+] [A2 B2 C2 D2 E2 F2 G2 H2] []);
    };
    (@pair [$a:ident $($rest:ident)*] [$b:ident $($bs:ident)*] [$($pair:tt)*]) => {
        merge!(@pair [$($rest)*] [$($bs)*] [$($pair)* ($a $b)]);
    };
    (@pair [] $unused:tt [$(($a:ident $b:ident))+]) => {
        #[diagnostic::do_not_recommend]
        impl<$($a: SameDim<$b>, $b,)+> Merge<($($b,)+)> for ($($a,)+) {
            type Output = ($(<$a as SameDim<$b>>::Merged,)+);
        }
    };
}
each_rank!(merge);

/// A tensor of shape `Rhs` can be stacked on one of this shape: the shapes are equal.
#[diagnostic::on_unimplemented(
    message = "tensors of shapes `{Self}` and `{Rhs}` can't be stacked",
    label = "`stack` takes tensors of one shape",
    note = "`cat` joins tensors that differ along one axis; `D3<D8<D4>>` is 384"
)]
pub trait StackedOn<Rhs>: Sealed {
    /// The common shape, with every size that either side knows.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<S: Merge<T, Output = Met>, T, Met: Shape> StackedOn<T> for S {
    type Output = Met;
}

/// Slices of this shape are written by `Op` from a source of shape `Source`: the shapes are equal.
#[diagnostic::on_unimplemented(
    message = "`{Op}`: the slices that the indices name make `{Self}`, the source has shape `{Source}`",
    label = "the source must have a slice for each index",
    note = "the shape of the source is that of the tensor, with the number of indices in place of the axis; `D3<D8<D4>>` is 384"
)]
pub trait Slices<Source, Op>: Sealed {}
#[diagnostic::do_not_recommend]
impl<S: Merge<T>, T, Op> Slices<T, Op> for S {}

/// Tensors of these shapes can be concatenated along axis `I`: all other sizes are equal.
///
/// ```
/// use castiron::{shape, shape::Concat, Shape};
/// type Joined = <shape![2, 3] as Concat<0, shape![_, 3]>>::Output;
/// assert_eq!(Joined::KNOWN, [None, Some(3)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "tensors of shapes `{Self}` and `{Rhs}` can't be joined along axis {I}",
    label = "all sizes but that of axis {I} must be the same",
    note = "`narrow` or `pad` one of them, give one more axis with `unsqueeze`, or join along another axis; `D3<D8<D4>>` is 384"
)]
pub trait Concat<const I: isize, Rhs>: Sealed {
    /// The shape of the joined tensor.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<const I: isize, S, T, Aligned, Merged> Concat<I, T> for S
where
    S: Shape + HasAxis<I>,
    // `T` with `S`'s size along the axis, so that the other axes can be compared.
    T: Shape + HasAxis<I, Replace<<S as HasAxis<I>>::Dim> = Aligned>,
    S: Merge<Aligned, Output = Merged>,
    Merged: Shape + HasAxis<I>,
{
    type Output = <Merged as HasAxis<I>>::Replace<<<S as HasAxis<I>>::Dim as Dim>::Plus<<T as HasAxis<I>>::Dim>>;
}
