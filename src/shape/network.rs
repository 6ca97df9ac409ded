//! The shapes of network operations: targets for predictions, labels for scores, channels and groups, pixels.

use super::arithmetic::DivideExactly;
use super::dim::Dyn;
use super::dim::{Dim, SameDim};
use super::numeral::{D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, End, Numeral, numbers_above_one};
use super::tuple::each_rank;
use super::{Shape, WrittenTo};
use crate::sealed::Sealed;

/// A target of this shape for predictions of shape `Input`: the shapes must be equal. Every shape implements it for itself.
#[diagnostic::on_unimplemented(
    message = "a target of shape `{Self}` does not go with predictions of shape `{Input}`",
    label = "a loss compares element with element: both have one shape",
    note = "losses broadcast nothing, since that would hide mistakes: use `unsqueeze`, `squeeze` or `expand`; `D3<D8<D4>>` is 384"
)]
pub trait TargetOf<Input>: Sealed {}
#[diagnostic::do_not_recommend]
impl<T: WrittenTo<S>, S> TargetOf<S> for T {}

/// Scores of classes: `(C)`, `(N, C)` or `(N, C, d1, …)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape of scores of classes: these are `(C,)`, `(N, C)` or `(N, C, d1, …)`",
    label = "the second axis counts classes, or the only one"
)]
pub trait Scores: Shape {
    /// The number of classes.
    type Classes: Dim;
    /// The shape of labels: without the class axis.
    type Labels: Shape;
    /// The class axis.
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

/// Scores of classes for one loss each: `(C)` or `(N, C)`.
#[diagnostic::on_unimplemented(
    message = "multi_margin_loss: scores are of shape `(C,)` or `(N, C)`, not `{Self}`",
    label = "expected one axis or two",
    note = "`cross_entropy` and `nll_loss` take axes behind the classes; `flatten_axes` makes one of several"
)]
pub trait ListOrMatrix: Sealed {}
impl<C> ListOrMatrix for (C,) {}
impl<N, C> ListOrMatrix for (N, C) {}

/// Labels of this shape for scores of shape `Input`: one label per list of scores.
#[diagnostic::on_unimplemented(
    message = "labels of shape `{Self}` do not go with scores of shape `{Input}`",
    label = "there is one label for each list of scores: all axes but that of classes",
    note = "labels are `()` beside scores `(C,)`, `(N,)` beside `(N, C)`, `(N, d1, …)` beside `(N, C, d1, …)`; `D3<D8<D4>>` is 384"
)]
pub trait LabelsOf<Input>: Sealed {}
#[diagnostic::do_not_recommend]
impl<S: Scores, T: WrittenTo<S::Labels>> LabelsOf<S> for T {}

/// The length of a list of weights, one per channel or class.
#[diagnostic::on_unimplemented(
    message = "a list of `{Self}` elements does not go with `{Channels}` channels or classes",
    label = "there is one element for each channel or class",
    note = "channels and classes are along the second axis; `D3<D8<D4>>` is 384"
)]
pub trait OneForEach<Channels>: Dim {}
#[diagnostic::do_not_recommend]
impl<K: Dim + SameDim<C>, C> OneForEach<C> for K {}

/// Shapes with channels: `(N, C)`, `(N, C, d1, …)`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` has no axis of channels: that is the second, as in `(N, C)` or `(N, C, d1, …)`",
    label = "two axes or more are wanted"
)]
pub trait HasChannels: Shape {
    /// The number of channels.
    type Channels: Dim;
}
/// Shapes with channels of several elements in each example: `(N, C, d1, …)`, the axes behind the channels having more than one
/// element, as far as the compiler knows their sizes.
#[diagnostic::on_unimplemented(
    message = "in a tensor of shape `{Self}` each channel of an example has one element, which has no variance",
    label = "expected axes behind the channels with several elements: `(N, C, d1, …)`",
    note = "`batch_norm_training` standardises a channel over all examples, `layer_norm` an example over its features",
    note = "in generic code the bound is `(N, C, L): HasSpatialAxes`"
)]
pub trait HasSpatialAxes: HasChannels {}
/// Shapes with several elements in each channel, all examples together, as far as the compiler knows their sizes.
#[diagnostic::on_unimplemented(
    message = "each channel of a tensor of shape `{Self}` has one element, which has no variance",
    label = "expected several examples, or axes behind the channels with several elements",
    note = "`batch_norm` takes a mean and a variance that are known, `layer_norm` standardises an example over its features",
    note = "in generic code the bound is `(N, C): HasVariance`"
)]
pub trait HasVariance: HasChannels {}
/// A number of elements other than 1, or known at run time.
#[doc(hidden)]
pub trait IsNotOne {}
impl IsNotOne for Dyn {}
impl IsNotOne for D0 {}
macro_rules! not_one {
    ($([$r:ident] $number:ty;)*) => {$(
        impl<$r: Numeral> IsNotOne for $number {}
    )*};
}
numbers_above_one!(not_one);

macro_rules! channels {
    (1 $dims:tt $positive:tt $negative:tt) => {};
    ($rank:literal [$n:ident $c:ident $($rest:ident)*] $positive:tt $negative:tt) => {
        impl<$n: Dim, $c: Dim, $($rest: Dim,)*> HasChannels for ($n, $c, $($rest,)*) {
            type Channels = $c;
        }
        #[diagnostic::do_not_recommend]
        impl<$n: Dim, $c: Dim, $($rest: Dim,)*> HasVariance for ($n, $c, $($rest,)*)
        where
            <<($n, $($rest,)*) as Shape>::Numel as Dim>::Unnamed: IsNotOne,
        {
        }
        channels!(@spatial [$n $c] [$($rest)*]);
    };
    (@spatial $front:tt []) => {};
    (@spatial [$n:ident $c:ident] [$($rest:ident)+]) => {
        #[diagnostic::do_not_recommend]
        impl<$n: Dim, $c: Dim, $($rest: Dim,)+> HasSpatialAxes for ($n, $c, $($rest,)+)
        where
            <<($($rest,)+) as Shape>::Numel as Dim>::Unnamed: IsNotOne,
        {
        }
    };
}
each_rank!(channels);

/// A number of channels that is divisible into `G` groups of equal size.
#[diagnostic::on_unimplemented(
    message = "`{G}` groups do not divide `{Self}` channels",
    label = "each group has as many channels as the others",
    note = "channels are along the second axis; `D3<D8<D4>>` is 384"
)]
pub trait InGroups<G>: Dim {}
#[diagnostic::do_not_recommend]
impl<C: Dim> InGroups<D1> for C {}
macro_rules! in_groups {
    ($([$r:ident] $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$r: Numeral, C: Dim + DivideExactly<$number>> InGroups<$number> for C {}
    )*};
}
numbers_above_one!(in_groups);

/// An axis of even size, which has two halves.
#[diagnostic::on_unimplemented(
    message = "an axis of size `{Self}` has no two halves of one size",
    label = "the size must be even"
)]
pub trait Halved: Sealed + Dim {
    /// The size of a half.
    type Half: Dim;
}
#[diagnostic::do_not_recommend]
impl<N: Dim + DivideExactly<D2<End>>> Halved for N {
    type Half = <N as DivideExactly<D2<End>>>::Output;
}

/// Images for `pixel_shuffle`: `(C * R * R, H, W)` becomes `(C, H * R, W * R)`; up to two axes may come before.
#[diagnostic::on_unimplemented(
    message = "channels of images of shape `{Self}` do not make `{R}` times as many rows and columns",
    label = "the third axis from the end must have a multiple of the square of `{R}`",
    note = "images are `(…, C, H, W)`; `D3<D8<D4>>` is 384"
)]
pub trait ShufflePixels<R>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}
/// The inverse: `(C, H * R, W * R)` becomes `(C * R * R, H, W)`.
#[diagnostic::on_unimplemented(
    message = "rows and columns of images of shape `{Self}` do not divide by `{R}`",
    label = "the last two axes must have multiples of `{R}`",
    note = "images are `(…, C, H, W)`; `D3<D8<D4>>` is 384"
)]
pub trait UnshufflePixels<R>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}
macro_rules! pixels {
    ($([$($lead:ident)*];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($lead: Dim,)* C: Dim + DivideExactly<R::Times<R>>, H: Dim, W: Dim, R: Dim> ShufflePixels<R> for ($($lead,)* C, H, W) {
            type Output = ($($lead,)* <C as DivideExactly<R::Times<R>>>::Output, H::Times<R>, W::Times<R>);
        }
        #[diagnostic::do_not_recommend]
        impl<$($lead: Dim,)* C: Dim, H: Dim + DivideExactly<R>, W: Dim + DivideExactly<R>, R: Dim> UnshufflePixels<R> for ($($lead,)* C, H, W) {
            type Output = ($($lead,)* C::Times<R::Times<R>>, <H as DivideExactly<R>>::Output, <W as DivideExactly<R>>::Output);
        }
    )*};
}
pixels! { []; [A]; [A B]; }
