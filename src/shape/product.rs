//! The shapes of products other than `matmul`: `inner`, `outer`, `kron` and products of a fixed rank.

use super::list::{List, ToShape};
use super::tuple::{each_rank, each_suffix};
use super::{Dim, HasAxis, SameDim, SameSizeFor, Shape};

/// The shape has `N` axes.
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes a tensor of rank {N} here, not one of shape `{Self}`",
    label = "the number of axes is not {N}",
    note = "`.flatten()` makes a vector, `.unsqueeze(axis![0])` adds an axis; `matmul` of strided tensors takes vectors, matrices and batches of them"
)]
pub trait HasRank<const N: usize, Op>: Shape {}

macro_rules! has_rank {
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        #[diagnostic::do_not_recommend]
        impl<Op, $($dim: Dim,)+> HasRank<$rank, Op> for ($($dim,)+) {}
    };
}
each_rank!(has_rank);

/// The shape of sums of products over the last axes, which have equal sizes: the other axes of `Self`, then those of `T`. A zero-dim shape
/// leaves the other one unchanged.
#[diagnostic::on_unimplemented(
    message = "`{Op}`: the last sizes of `{Self}` and `{T}` differ",
    label = "`{Op}` sums products along the last axes of both, which have one size",
    note = "`.t()` or `.transpose(axis![…], axis![…])` moves another axis to the end; `tensordot` sums over axes that are named"
)]
pub trait Inner<T, Op> {
    /// The shape of the sums.
    type Output: Shape;
}
/// [`Inner`] for a shape `S` with axes.
pub trait InnerOf<S, Op> {
    /// The shape of the sums.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<T: Shape, Op> Inner<T, Op> for () {
    type Output = T;
}
impl<S: Shape, Op> InnerOf<S, Op> for () {
    type Output = S;
}
macro_rules! inner {
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        #[diagnostic::do_not_recommend]
        impl<T: InnerOf<Self, Op>, Op, $($dim: Dim,)+> Inner<T, Op> for ($($dim,)+) {
            type Output = T::Output;
        }
        #[diagnostic::do_not_recommend]
        impl<S, L, Op, $($dim: Dim,)+> InnerOf<S, Op> for ($($dim,)+)
        where
            S: HasAxis<-1, Dim: SameSizeFor<<Self as HasAxis<-1>>::Dim, Op>, Removed: Beside<<Self as HasAxis<-1>>::Removed, Output = L>>,
            L: Shape,
        {
            type Output = L;
        }
    };
}
each_rank!(inner);

/// The axes of `Self` followed by those of `T`: at most eight.
#[diagnostic::on_unimplemented(
    message = "a tensor of the axes of `{Self}` and then those of `{T}` has more than eight axes",
    label = "shapes have at most eight axes"
)]
pub trait Beside<T> {
    /// The longer shape.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<S: Shape, T: Shape> Beside<T> for S
where
    <S::Axes as List>::Append<T::Axes>: ToShape,
{
    type Output = <<S::Axes as List>::Append<T::Axes> as ToShape>::Shape;
}

/// The shape of a Kronecker product: aligned at the last axis, sizes are multiplied; the longer shape's further axes are kept.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{T}` have no Kronecker product",
    label = "expected two tensors of up to eight axes"
)]
pub trait Kronecker<T> {
    /// The shape of the product.
    type Output: Shape;
}
impl Kronecker<()> for () {
    type Output = ();
}
macro_rules! kronecker {
    ([$($lead:ident)*] $(($a:ident $b:ident))*) => {
        impl<$($lead: Dim,)* $($a: Dim, $b: Dim,)*> Kronecker<($($b,)*)> for ($($lead,)* $($a,)*) {
            type Output = ($($lead,)* $($a::Times<$b>,)*);
        }
        kronecker!(@reversed [$($lead)*] $(($a $b))*);
    };
    (@reversed [] $(($a:ident $b:ident))*) => {};
    (@reversed [$($lead:ident)+] $(($a:ident $b:ident))*) => {
        impl<$($lead: Dim,)+ $($a: Dim, $b: Dim,)*> Kronecker<($($lead,)+ $($a,)*)> for ($($b,)*) {
            type Output = ($($lead,)+ $($b::Times<$a>,)*);
        }
    };
}
each_suffix!(kronecker);

/// The size of an axis of vectors with three elements.
#[diagnostic::on_unimplemented(
    message = "`cross` takes vectors of three elements, and this axis has size `{Self}`",
    label = "the axis must have size 3",
    note = "name the axis of size 3, as in `x.cross(&y, axis![-1])`"
)]
pub trait OfThree {}
#[diagnostic::do_not_recommend]
impl<D: SameDim<super::D3>> OfThree for D {}
