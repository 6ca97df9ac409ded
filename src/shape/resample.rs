//! Shapes that are resampled, cut into patches and put together again.
//!
//! Source: PyTorch, `torch.nn.Upsample`, `torch.nn.Unfold`, `torch.nn.Fold`, `torch.nn.MaxUnpool2d` ("Shape").
//! Uses dimensions and windows; used by `tensor::nn`.

use super::Shape;
use super::dim::{Dim, Dyn, Known};
use super::window::EachAxis;

/// What is resampled along one axis: `(batch, channels, length)`.
#[derive(Clone, Copy, Debug)]
pub struct Lines;
/// What is resampled along two axes: `(batch, channels, height, width)`.
#[derive(Clone, Copy, Debug)]
pub struct Images;
/// What is resampled along three axes: `(batch, channels, depth, height, width)`.
#[derive(Clone, Copy, Debug)]
pub struct Volumes;

/// A shape that is resampled to the sizes `R`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be resampled to sizes `{R}`",
    label = "expected (batch, channels, …) with one to three axes behind, and a size for each of these",
    note = "without a batch use `unsqueeze` first; sizes are a shape: `interpolate::<shape![8, 8]>(…)`"
)]
pub trait Interpolated<R> {
    /// The shape of the result.
    type Output: Shape;
    /// [`Lines`], [`Images`] or [`Volumes`].
    type What;
}

/// A shape whose axes behind the channels are multiplied by `K`: a number, or one for each.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be upsampled",
    label = "expected (batch, channels, …) with one to three axes behind",
    note = "without a batch use `unsqueeze` first"
)]
pub trait Upsampled<K> {
    /// The shape of the result.
    type Output: Shape;
    /// [`Lines`], [`Images`] or [`Volumes`].
    type What;
    /// The factor of each axis.
    #[doc(hidden)]
    fn factors() -> Vec<usize>;
}

/// A shape whose axes behind the channels get sizes that are known at run time: `F` is a number for each.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be scaled by factors `{F}`",
    label = "expected (batch, channels, …) with one to three axes behind, and a factor for each of these, as in `[1.5, 2.0]`",
    note = "without a batch use `unsqueeze` first"
)]
pub trait Scaled<F> {
    /// The shape of the result.
    type Output: Shape;
    /// [`Lines`], [`Images`] or [`Volumes`].
    type What;
}

macro_rules! resampled {
    ($($what:ident $rank:literal: [$($axis:ident $size:ident $factor:ident $place:ident $any:ident)+];)*) => {$(
        impl<N: Dim, C: Dim, $($axis: Dim, $size: Dim),+> Interpolated<($($size,)+)> for (N, C, $($axis),+) {
            type Output = (N, C, $($size),+);
            type What = $what;
        }
        impl<N: Dim, C: Dim, $($axis: Dim,)+ K: EachAxis<First: Known, Second: Known, Third: Known>> Upsampled<K> for (N, C, $($axis),+) {
            type Output = (N, C, $($axis::Times<K::$place>),+);
            type What = $what;
            fn factors() -> Vec<usize> {
                vec![$(<K::$place as Known>::VALUE),+]
            }
        }
        impl<N: Dim, C: Dim, $($axis: Dim),+> Scaled<[f64; $rank]> for (N, C, $($axis),+) {
            type Output = (N, C, $($any),+);
            type What = $what;
        }
    )*};
}
resampled! {
    Lines 1: [L L1 F1 First Dyn];
    Images 2: [H H1 F1 First Dyn W W1 F2 Second Dyn];
    Volumes 3: [B B1 F1 First Dyn H H1 F2 Second Dyn W W1 F3 Third Dyn];
}
