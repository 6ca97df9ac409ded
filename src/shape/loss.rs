//! Which targets go with which predictions: `mse_loss` and its kin, `cross_entropy` and its kin. Uses shapes; used by losses.

use super::dim::{Dim, SameDim};
use super::tuple::each_rank;
use super::{Shape, WrittenTo};

/// A target of this shape goes with predictions of shape `Input`: they are the same. Holds for every shape and itself.
#[diagnostic::on_unimplemented(
    message = "a target of shape `{Self}` does not go with predictions of shape `{Input}`",
    label = "a loss compares element with element: both have one shape",
    note = "losses broadcast nothing, since that would hide mistakes: use `unsqueeze`, `squeeze` or `expand`; `D3<D8<D4>>` is 384"
)]
pub trait TargetOf<Input> {}
#[diagnostic::do_not_recommend]
impl<T: WrittenTo<S>, S> TargetOf<S> for T {}

/// Scores of classes: `(C)`, `(N, C)` or `(N, C, d1, …)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape of scores of classes: these are `(C,)`, `(N, C)` or `(N, C, d1, …)`",
    label = "the second axis counts classes, or the only one"
)]
pub trait Scores: Shape {
    /// How many classes there are.
    type Classes: Dim;
    /// The shape of labels: without the axis of classes.
    type Labels: Shape;
    /// The axis of classes.
    const AXIS: usize;
}

macro_rules! scores {
    (1 [$c:ident] $positive:tt $negative:tt) => {
        impl<$c: Dim> Scores for ($c,) {
            type Classes = $c;
            type Labels = ();
            const AXIS: usize = 0;
        }
    };
    ($rank:literal [$n:ident $c:ident $($rest:ident)*] $positive:tt $negative:tt) => {
        impl<$n: Dim, $c: Dim, $($rest: Dim,)*> Scores for ($n, $c, $($rest,)*) {
            type Classes = $c;
            type Labels = ($n, $($rest,)*);
            const AXIS: usize = 1;
        }
    };
}
each_rank!(scores);

/// Labels of this shape go with scores of shape `Input`: there is one for each list of scores.
#[diagnostic::on_unimplemented(
    message = "labels of shape `{Self}` do not go with scores of shape `{Input}`",
    label = "there is one label for each list of scores: all axes but that of classes",
    note = "labels are `()` beside scores `(C,)`, `(N,)` beside `(N, C)`, `(N, d1, …)` beside `(N, C, d1, …)`; `D3<D8<D4>>` is 384"
)]
pub trait LabelsOf<Input> {}
#[diagnostic::do_not_recommend]
impl<S: Scores, T: WrittenTo<S::Labels>> LabelsOf<S> for T {}

/// So many weights go with so many channels or classes: one for each.
#[diagnostic::on_unimplemented(
    message = "a list of `{Self}` elements does not go with `{Channels}` channels or classes",
    label = "there is one element for each channel or class",
    note = "channels and classes are along the second axis; `D3<D8<D4>>` is 384"
)]
pub trait OneForEach<Channels>: Dim {}
#[diagnostic::do_not_recommend]
impl<K: Dim + SameDim<C>, C> OneForEach<C> for K {}
