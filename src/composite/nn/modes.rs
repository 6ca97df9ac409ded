//! The modes of `interpolate` as types, and what each can resample.
//!
//! Source: `torch.nn.functional.interpolate` ("mode").

use crate::dtype::Element;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::resample::{Kernel, Resampling};
use crate::shape::{Images, Lines, Volumes};

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a way to resample",
        label = "this trait is castiron's alone",
        note = "resample by `Nearest`, `NearestExact`, `Linear`, `Bilinear`, `Trilinear`, `Bicubic`, `Lanczos` or `Area`"
    )]
    pub trait Resamples {}
}

/// A mode of resampling: [`Nearest`], [`NearestExact`], [`Linear`], [`Bilinear`], [`Trilinear`], [`Bicubic`], [`Lanczos`] or [`Area`], for
/// `What` ([`Lines`], [`Images`] or [`Volumes`]) of `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not resample `{What}` of `{E}`",
    label = "`Linear` is for lines, `Bilinear`, `Bicubic` and `Lanczos` for images, `Trilinear` for volumes, of floats; the others for all of them",
    note = "lines are (batch, channels, length), images (batch, channels, height, width), volumes (batch, channels, depth, height, width)",
    note = "of `u8` there are `Nearest` and `NearestExact`, and `Bilinear`, `Bicubic` and `Lanczos` of images; of other dtypes cast first, `.to::<f32>()`"
)]
pub trait Resamples<E: Element, What>: sealed::Resamples + Copy {
    #[doc(hidden)]
    fn how(self) -> Resampling;
}

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident $kernel:ident $fields:tt [$($what:ident)*] $bytes:tt;)*) => {$(
        modes!(@mode $name $fields $(#[$doc])*);
        $(modes!(@admit $name $what $kernel $fields $bytes);)*
    )*};
    (@mode $name:ident { $($field:ident)* } $(#[$doc:meta])*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($field: bool,)*
        }
        impl $name {
            /// The default: corners are those of pixels, and only the adjacent positions are interpolated.
            pub const fn new() -> Self {
                $name { $($field: false),* }
            }
            $(modes!(@option $field $name);)*
        }
        impl sealed::Resamples for $name {}
    };
    (@option align_corners $name:ident) => {
        /// Whether the first and last output positions coincide with the first and last input positions.
        #[must_use]
        #[allow(clippy::needless_update)] // of those with no other option
        pub const fn align_corners(self, align_corners: bool) -> Self {
            $name { align_corners, ..self }
        }
    };
    (@option antialias $name:ident) => {
        /// Whether an output pixel averages all input pixels that it covers, when sizes become smaller.
        #[must_use]
        pub const fn antialias(self, antialias: bool) -> Self {
            $name { antialias, ..self }
        }
    };
    (@how $kernel:ident $self:ident { $($field:ident)* }) => {
        Resampling {
            $($field: $self.$field,)*
            ..Resampling { kernel: Kernel::$kernel, align_corners: false, antialias: matches!(Kernel::$kernel, Kernel::Lanczos) }
        }
    };
    (@admit $name:ident $what:ident $kernel:ident $fields:tt $bytes:tt) => {
        #[diagnostic::do_not_recommend]
        impl<E: FloatFor<ops::reduce::interpolate>> Resamples<E, $what> for $name {
            #[allow(clippy::needless_update)] // of those with both options
            fn how(self) -> Resampling {
                modes!(@how $kernel self $fields)
            }
        }
        modes!(@bytes $name $what $kernel $fields $bytes);
    };
    (@bytes $name:ident $what:ident $kernel:ident $fields:tt false) => {};
    (@bytes $name:ident $what:ident $kernel:ident $fields:tt true) => {
        #[diagnostic::do_not_recommend]
        impl Resamples<u8, $what> for $name {
            #[allow(clippy::needless_update)] // of those with both options
            fn how(self) -> Resampling {
                modes!(@how $kernel self $fields)
            }
        }
    };
}
modes! {
    /// The input position before each output position (`mode="nearest"`).
    Nearest Nearest {} [Lines Images Volumes] true;
    /// The input position nearest to each output position (`mode="nearest-exact"`).
    NearestExact NearestExact {} [Lines Images Volumes] true;
    /// The mean of the input positions that each output position covers (`mode="area"`): `adaptive_avg_pool`.
    Area Area {} [Lines Images Volumes] false;
    /// Linear interpolation along one axis (`mode="linear"`).
    Linear Linear { align_corners } [Lines] false;
    /// Linear interpolation along two axes (`mode="bilinear"`).
    Bilinear Linear { align_corners antialias } [Images] true;
    /// Linear interpolation along three axes (`mode="trilinear"`).
    Trilinear Linear { align_corners } [Volumes] false;
    /// Cubic interpolation along two axes (`mode="bicubic"`); it may overshoot.
    Bicubic Cubic { align_corners antialias } [Images] true;
    /// Lanczos interpolation along two axes (`mode="lanczos", antialias=True`); it may overshoot.
    Lanczos Lanczos {} [Images] true;
}
