//! The shapes of products other than `matmul`: `inner`, `outer`, `kron` and products of a fixed rank.

use super::list::{List, ToShape};
use super::order::{Rules, Spreads};
use super::tuple::{each_rank, each_suffix};
use super::{Dim, HasAxis, SameDim, SameSizeFor, Shape};
use crate::sealed::Sealed;

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
pub trait Inner<T, Op>: Sealed {
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
pub trait Beside<T>: Sealed {
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

/// Axes of these sizes are summed over in pairs: the first with the first of `Theirs`, and so on.
#[diagnostic::on_unimplemented(
    message = "tensordot: axes of sizes `{Self}` can't be paired with axes of sizes `{Theirs}`",
    label = "an axis of the other tensor goes with each axis",
    note = "both lists name as many axes: `a.tensordot(&b, axis![1, 2], axis![1, 0])`"
)]
pub trait PairedWith<Theirs>: Sealed {}
/// An axis of this size is summed over together with one of another tensor.
#[diagnostic::on_unimplemented(
    message = "tensordot: an axis of size `{Self}` can't be summed over with one of size `{Rhs}`",
    label = "the axes of a pair have one size, or one of them has size 1",
    note = "the first axis named goes with the first of the other tensor, the second with the second; `D3<D8<D4>>` is 384"
)]
pub trait SummedWith<Rhs> {}
#[diagnostic::do_not_recommend]
impl<A: Rules<Spreads, B>, B> SummedWith<B> for A {}

macro_rules! paired {
    ($rank:literal [$($a:ident)+] $positive:tt $negative:tt) => {
        paired!(@pair [$($a)+] [A2 B2 C2 D2 E2 F2 G2 H2] []);
    };
    (@pair [$a:ident $($rest:ident)*] [$b:ident $($bs:ident)*] [$($pair:tt)*]) => {
        paired!(@pair [$($rest)*] [$($bs)*] [$($pair)* ($a $b)]);
    };
    (@pair [] $unused:tt [$(($a:ident $b:ident))+]) => {
        impl<$($a: SummedWith<$b>, $b,)+> PairedWith<($($b,)+)> for ($($a,)+) {}
        // A second candidate, so that rustc reports the message above instead of unifying: see `Never`.
        #[diagnostic::do_not_recommend]
        impl<$($a,)+> PairedWith<super::Never> for ($($a,)+) {}
    };
}
each_rank!(paired);

/// The shape of a Kronecker product: aligned at the last axis, sizes are multiplied; the longer shape's further axes are kept.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{T}` have no Kronecker product",
    label = "expected two tensors of up to eight axes"
)]
pub trait Kronecker<T>: Sealed {
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

/// A shape with `N` axes or more, 1 being the least: the first `N`, and the others.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be taken apart behind {N} axes",
    label = "expected from 1 axis up to all of them",
    note = "`index_put` takes an index for each of the first axes, `tensorinv` the number of axes that come first"
)]
pub trait SplitAt<const N: usize>: Shape {
    /// The first `N` axes.
    type Front: Shape;
    /// The axes behind them.
    type Back: Shape;
}
/// For rank 2 it expands to `impl SplitAt<1> for (A, B) { type Front = (A,); type Back = (B,); }`, and to the same at 2.
macro_rules! split_at {
    ($rank:literal [$($dim:ident)+] [0 $($position:literal)*] $negative:tt) => {
        split_at!(@each [] [$($dim)+] [$($position)* $rank]);
    };
    (@each $front:tt [] []) => {};
    (@each [$($front:ident)*] [$next:ident $($back:ident)*] [$at:literal $($positions:literal)*]) => {
        #[diagnostic::do_not_recommend]
        impl<$($front: Dim,)* $next: Dim, $($back: Dim,)*> SplitAt<$at> for ($($front,)* $next, $($back,)*) {
            type Front = ($($front,)* $next,);
            type Back = ($($back,)*);
        }
        split_at!(@each [$($front)* $next] [$($back)*] [$($positions)*]);
    };
}
each_rank!(split_at);

/// The size of an axis of vectors with three elements.
#[diagnostic::on_unimplemented(
    message = "`cross` takes vectors of three elements, and this axis has size `{Self}`",
    label = "the axis must have size 3",
    note = "name the axis of size 3, as in `x.cross(&y, axis![-1])`"
)]
pub trait OfThree {}
#[diagnostic::do_not_recommend]
impl<D: SameDim<super::D3>> OfThree for D {}
