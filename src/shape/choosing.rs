//! The shapes of indices. Uses shapes; used by the operations that choose elements.

use super::dim::Dim;
use super::numeral::D1;
use super::tuple::each_rank;
use super::Shape;

/// The shape of a list of indices: one axis. (A zero-dim tensor counts as one index.)
#[diagnostic::on_unimplemented(
    message = "a list of indices has one axis, not the shape `{Self}`",
    label = "expected indices of shape `shape![_]`",
    note = "flatten them first; `gather` takes an index for each element, `embedding` indices of any shape"
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
impl SameRank<super::dim::Never> for () {}

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
        impl<$($a,)+> SameRank<super::dim::Never> for ($($a,)+) {}
    };
}
each_rank!(same_rank);
