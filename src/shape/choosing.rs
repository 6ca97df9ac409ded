//! The shapes of indices.

use super::Shape;
use super::axis::HasAxis;
use super::dim::{Dim, Never, SameDim};
use super::numeral::D1;
use super::order::{Expands, IsNoLarger, Rules};
use super::sealed::Tuple;
use super::tuple::{each_rank, each_suffix};
use super::{Beside, MayEqual, SplitAt};
use crate::sealed::Sealed;

/// The shape of a list of indices or boundaries: one axis. (A zero-dim tensor counts as a list of one element.)
#[diagnostic::on_unimplemented(
    message = "a list has one axis, not the shape `{Self}`",
    label = "expected a tensor of shape `shape![_]`",
    note = "flatten it first; `gather` takes an index for each element, `embedding` indices of any shape, `searchsorted` several sorted lists"
)]
pub trait IndexList: Shape {
    /// The length of the list.
    type Dim: Dim;
}
impl IndexList for () {
    type Dim = D1;
}
impl<N: Dim> IndexList for (N,) {
    type Dim = N;
}

/// Two shapes with the same number of axes. Every shape implements it for itself.
#[diagnostic::on_unimplemented(
    message = "shapes `{Self}` and `{Rhs}` differ in the number of axes",
    label = "these tensors must have the same number of axes",
    note = "indices lead along one axis; along the others they stand beside the elements: put axes of size 1 in with `unsqueeze`, or `expand`"
)]
pub trait SameRank<Rhs>: Tuple {}
impl SameRank<()> for () {}
// A second impl, so that rustc reports the message above instead of unifying: see `Never`.
#[diagnostic::do_not_recommend]
impl SameRank<Never> for () {}

macro_rules! same_rank {
    ($rank:literal [$($a:ident)+] $positive:tt $negative:tt) => {
        same_rank!(@pair [$($a)+] [A2 B2 C2 D2 E2 F2 G2 H2] []);
    };
    (@pair [$a:ident $($rest:ident)*] [$b:ident $($bs:ident)*] [$($pair:tt)*]) => {
        same_rank!(@pair [$($rest)*] [$($bs)*] [$($pair)* ($a $b)]);
    };
    (@pair [] $unused:tt [$(($a:ident $b:ident))+]) => {
        // (With the bound, rustc does not think of putting a shape into a tuple.)
        impl<$($a: super::Dim, $b,)+> SameRank<($($b,)+)> for ($($a,)+) {}
        #[diagnostic::do_not_recommend]
        impl<$($a,)+> SameRank<Never> for ($($a,)+) {}
        #[diagnostic::do_not_recommend]
        impl<$($a: NoLargerThan<$b>, $b,)+> Within<($($b,)+)> for ($($a,)+) {}
    };
}
each_rank!(same_rank);

/// The size of an index, which must not exceed that of the tensor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` indices along an axis of `{N}`",
    label = "an index is no larger than the tensor",
    note = "`D3<D8<D4>>` is 384; in generic code the bound is `M: NoLargerThan<N>`"
)]
pub trait NoLargerThan<N> {}
#[diagnostic::do_not_recommend]
impl<M: Rules<IsNoLarger, N>, N> NoLargerThan<N> for M {}

/// A shape with the same number of axes, none of which is larger. Every shape implements it for itself.
#[diagnostic::on_unimplemented(
    message = "a shape `{Self}` is larger than `{Whole}` along some axis",
    label = "expected as many axes, none of which is larger"
)]
pub trait Within<Whole>: Sealed {}
impl Within<()> for () {}

/// An index of this shape along axis `I` of a tensor of shape `S`: along the other axes it is no larger than the tensor.
#[diagnostic::on_unimplemented(
    message = "an index of shape `{Self}` is larger than a tensor of shape `{S}` beside axis {I}",
    label = "along the axes beside `axis![{I}]` an index is no larger than the tensor",
    note = "`take_along_dim` broadcasts the index; `index_select` takes a list of indices for whole slices; `D3<D8<D4>>` is 384"
)]
pub trait IndexBeside<S, const I: isize>: Sealed {}
#[diagnostic::do_not_recommend]
impl<T: HasAxis<I>, S: HasAxis<I>, const I: isize> IndexBeside<S, I> for T where
    <T as HasAxis<I>>::Removed: Within<<S as HasAxis<I>>::Removed>
{
}

/// An index of this shape for elements of a source of shape `Source`: it is no larger along any axis.
#[diagnostic::on_unimplemented(
    message = "an index of shape `{Self}` takes more elements than a source of shape `{Source}` has",
    label = "along no axis is an index larger than the source",
    note = "one value for all positions is written by `scatter_value`; `D3<D8<D4>>` is 384"
)]
pub trait IndexOf<Source>: Sealed {}
#[diagnostic::do_not_recommend]
impl<T: Within<Source>, Source> IndexOf<Source> for T {}

/// Indices of this shape, one for each of the first `N` axes of a tensor of shape `S`, name places, to which values are written.
#[diagnostic::on_unimplemented(
    message = "{N} indices of shape `{Self}` name no places of a tensor of shape `{S}`",
    label = "expected an index for each of the first axes, and at most eight axes: those of an index, then those that have none"
)]
pub trait PlacesIn<S, const N: usize>: Shape {
    /// The shape of the places: that of an index, followed by the axes that have none.
    type Places: Shape;
}
impl<T: Shape, S: SplitAt<N>, const N: usize> PlacesIn<S, N> for T
where
    T: Beside<S::Back>,
{
    type Places = <T as Beside<S::Back>>::Output;
}

/// Values of this shape broadcast to places of shape `Places`.
#[diagnostic::on_unimplemented(
    message = "values of shape `{Self}` can't be written to places of shape `{Places}`",
    label = "values broadcast to the places: the shape of an index, followed by the axes that have none",
    note = "sizes are compared from the last axis on: they are those of the places, or 1; `D3<D8<D4>>` is 384"
)]
pub trait WrittenAt<Places>: Sealed {}
impl<Places> WrittenAt<Places> for () {}
macro_rules! written_at {
    ([$($lead:ident)*]) => {};
    ([$($lead:ident)*] $(($a:ident $b:ident))+) => {
        #[diagnostic::do_not_recommend]
        impl<$($lead,)* $($a: Rules<Expands, $b>, $b,)+> WrittenAt<($($lead,)* $($b,)+)> for ($($a,)+) {}
    };
}
each_suffix!(written_at);

/// Slopes of this shape go with a tensor of shape `S`: one, or one for each channel.
#[diagnostic::on_unimplemented(
    message = "prelu: slopes of shape `{Self}` do not go with a tensor of shape `{S}`",
    label = "there is one slope, or one for each channel",
    note = "channels are along the second axis, and one where there is none; `D3<D8<D4>>` is 384"
)]
pub trait SlopesOf<S>: Sealed {}
#[diagnostic::do_not_recommend]
impl<S> SlopesOf<S> for () {}
#[diagnostic::do_not_recommend]
impl<N: Rules<Expands, D1>> SlopesOf<()> for (N,) {}
macro_rules! slopes {
    (1 [$a:ident] $positive:tt $negative:tt) => {
        #[diagnostic::do_not_recommend]
        impl<N: Rules<Expands, D1>, $a> SlopesOf<($a,)> for (N,) {}
    };
    ($rank:literal [$n:ident $c:ident $($rest:ident)*] $positive:tt $negative:tt) => {
        #[diagnostic::do_not_recommend]
        impl<N0: Rules<Expands, $c>, $n, $c, $($rest),*> SlopesOf<($n, $c, $($rest,)*)> for (N0,) {}
    };
}
each_rank!(slopes);

/// So many counts go with an axis of `N` positions: one for each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` counts do not go with an axis of size `{N}`",
    label = "there is a count for each position of the axis",
    note = "`repeat_interleave::<dim!(2), _>(axis![0])` repeats each position as often; `D3<D8<D4>>` is 384"
)]
pub trait CountForEach<N> {}
#[diagnostic::do_not_recommend]
impl<M: MayEqual<N>, N> CountForEach<N> for M {}

/// Values of shape `Values` can be searched for in a sorted tensor of this shape: all in a single list, or each lane of values in the
/// corresponding lane.
#[diagnostic::on_unimplemented(
    message = "searchsorted: values of shape `{Values}` can't be looked for in a sorted tensor of shape `{Self}`",
    label = "all sizes but the last must be the same",
    note = "one sorted list takes values of any shape; several take a lane of values each"
)]
pub trait SearchedBy<Values>: Sealed {}
#[diagnostic::do_not_recommend]
impl<N, T: Shape> SearchedBy<T> for (N,) {}

macro_rules! searched {
    (1 [$a:ident] $positive:tt $negative:tt) => {};
    ($rank:literal [$first:ident $($a:ident)+] $positive:tt $negative:tt) => {
        searched!(@pair [$($a)+] [A2 B2 C2 D2 E2 F2 G2 H2] []);
    };
    (@pair [$a:ident $($rest:ident)*] [$b:ident $($bs:ident)*] [$($pair:tt)*]) => {
        searched!(@pair [$($rest)*] [$($bs)*] [$($pair)* ($a $b)]);
    };
    (@pair [] $unused:tt [$(($a:ident $b:ident))+]) => {
        #[diagnostic::do_not_recommend]
        impl<$($a: SameDim<$b>, $b,)+ N, M> SearchedBy<($($b,)+ M)> for ($($a,)+ N) {}
    };
}
each_rank!(searched);
