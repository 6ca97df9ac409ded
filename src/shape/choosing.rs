//! The shapes of indices. Uses shapes; used by the operations that choose elements.

use super::Shape;
use super::dim::{Dim, Never, SameDim};
use super::numeral::D1;
use super::tuple::each_rank;

/// The shape of a list of indices or boundaries: one axis. (A zero-dim tensor counts as a list of one.)
#[diagnostic::on_unimplemented(
    message = "a list has one axis, not the shape `{Self}`",
    label = "expected a tensor of shape `shape![_]`",
    note = "flatten it first; `gather` takes an index for each element, `embedding` indices of any shape, `searchsorted` several sorted lists"
)]
pub trait IndexList: Shape {
    /// How many there are.
    type Dim: Dim;
}
impl IndexList for () {
    type Dim = D1;
}
impl<N: Dim> IndexList for (N,) {
    type Dim = N;
}

/// Two shapes with the same number of axes. Holds for every shape and itself.
#[diagnostic::on_unimplemented(
    message = "shapes `{Self}` and `{Rhs}` differ in the number of axes",
    label = "these tensors must have the same number of axes",
    note = "indices lead along one axis; along the others they stand beside the elements: put axes of size 1 in with `unsqueeze`, or `expand`"
)]
pub trait SameRank<Rhs> {}
impl SameRank<()> for () {}
// A second candidate, so that rustc reports the message above instead of unifying: see `Never`.
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
        impl<$($a, $b,)+> SameRank<($($b,)+)> for ($($a,)+) {}
        #[diagnostic::do_not_recommend]
        impl<$($a,)+> SameRank<Never> for ($($a,)+) {}
    };
}
each_rank!(same_rank);

/// Values of shape `Values` can be looked for in a sorted tensor of this shape: in one list, or each lane of values in the lane
/// beside it.
#[diagnostic::on_unimplemented(
    message = "searchsorted: values of shape `{Values}` can't be looked for in a sorted tensor of shape `{Self}`",
    label = "all sizes but the last must be the same",
    note = "one sorted list takes values of any shape; several take a lane of values each"
)]
pub trait SearchedBy<Values> {}
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
