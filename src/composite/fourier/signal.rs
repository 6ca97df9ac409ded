//! Signals and spectra: their dtypes, and how results are scaled.

use crate::cpu::fourier::{self, WaveNumber};
use crate::dtype::{Complex, Dtype};
use crate::error::Result;
#[cfg(feature = "any")]
use crate::error::invalid;

/// The real dtypes of transforms: `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the real dtype of a Fourier transform",
    label = "expected `f32` or `f64`"
)]
pub trait Wave: sealed::Wave + Spectral<Re = Self, Cx = Complex<Self>> {}

/// Sealed: what is computed here is computed for `f32` and `f64`. The crate that does it is named in bodies alone, so that another version
/// of it changes no bound.
pub(super) mod sealed {
    use super::{Complex, Dtype, Result};

    /// The functions of [`fourier`](crate::cpu::fourier) for one dtype.
    pub trait Wave: Dtype + num_traits::Float {
        #[doc(hidden)]
        fn as_f64(self) -> f64;
        #[doc(hidden)]
        fn complex(lanes: &mut [Complex<Self>], n: usize, forward: bool, scale: f64) -> Result<()>;
        #[doc(hidden)]
        fn real(lanes: &mut [Self], n: usize, conjugated: bool, scale: f64) -> Result<Vec<Complex<Self>>>;
        #[doc(hidden)]
        fn back_to_real(lanes: &mut [Complex<Self>], n: usize, conjugated: bool, scale: f64) -> Result<Vec<Self>>;
    }
}

/// For a dtype it writes `impl Wave`, and `impl sealed::Wave`, whose functions are those of `fourier`.
macro_rules! waves {
    ($($real:ty)*) => {$(
        impl Wave for $real {}
        impl sealed::Wave for $real {
            fn as_f64(self) -> f64 {
                WaveNumber::as_f64(self)
            }
            fn complex(lanes: &mut [Complex<Self>], n: usize, forward: bool, scale: f64) -> Result<()> {
                fourier::complex(lanes, n, forward, scale)
            }
            fn real(lanes: &mut [Self], n: usize, conjugated: bool, scale: f64) -> Result<Vec<Complex<Self>>> {
                fourier::real(lanes, n, conjugated, scale)
            }
            fn back_to_real(lanes: &mut [Complex<Self>], n: usize, conjugated: bool, scale: f64) -> Result<Vec<Self>> {
                fourier::back_to_real(lanes, n, conjugated, scale)
            }
        }
    )*};
}
waves!(f32 f64);

/// The dtypes with Fourier transforms: integers and `bool`, which count as `f32`, `f32` and `f64`, and their complex dtypes.
#[diagnostic::on_unimplemented(
    message = "Fourier transforms are not defined for `{Self}`",
    label = "expected an integer, `f32`, `f64`, `Complex<f32>` or `Complex<f64>`",
    note = "as in PyTorch, 16-bit floats have none on the CPU: cast first, for example `.to::<f32>()`"
)]
pub trait Spectral: Dtype {
    /// The dtype of a real result.
    type Re: Wave;
    /// The dtype of a complex result.
    type Cx: Spectral<Re = Self::Re, Cx = Self::Cx>;
    /// An element as a complex number.
    #[doc(hidden)]
    fn wave(self) -> Complex<Self::Re>;
    /// A complex number as the dtype of the result.
    #[doc(hidden)]
    fn spectrum(parts: Complex<Self::Re>) -> Self::Cx;
}
/// The real ones of these dtypes; half of their frequencies determines the others.
#[diagnostic::on_unimplemented(
    message = "a signal of `{Self}` is not real",
    label = "expected an integer, `bool`, `f32` or `f64`",
    note = "`fft` and `ifft` transform complex numbers; in generic code the bound is `E: RealSignal`"
)]
pub trait RealSignal: Spectral {}
/// For a dtype it writes `impl RealSignal`.
macro_rules! real_signals {
    ($($ty:ty)*) => {$(
        impl RealSignal for $ty {}
    )*};
}
real_signals!(bool u8 i8 i16 i32 i64 f32 f64);

macro_rules! spectral {
    ($($ty:ty: $re:ty, |$x:ident| $real:expr;)*) => {$(
        impl Spectral for $ty {
            type Re = $re;
            type Cx = Complex<$re>;
            fn wave(self) -> Complex<$re> {
                let $x = self;
                $real
            }
            fn spectrum(parts: Complex<$re>) -> Complex<$re> {
                parts
            }
        }
    )*};
}
spectral! {
    bool: f32, |x| Complex::new(f32::from(u8::from(x)), 0.0);
    u8: f32, |x| Complex::new(f32::from(x), 0.0);
    i8: f32, |x| Complex::new(f32::from(x), 0.0);
    i16: f32, |x| Complex::new(f32::from(x), 0.0);
    i32: f32, |x| Complex::new(x as f32, 0.0);
    i64: f32, |x| Complex::new(x as f32, 0.0);
    f32: f32, |x| Complex::new(x, 0.0);
    f64: f64, |x| Complex::new(x, 0.0);
    Complex<f32>: f32, |x| x;
    Complex<f64>: f64, |x| x;
}

/// The scaling of results (PyTorch's `norm`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Norm {
    /// Inverse transforms by `1 / n`.
    #[default]
    Backward,
    /// Forward transforms by `1 / n`.
    Forward,
    /// All by `1 / sqrt(n)`.
    Ortho,
}

/// The direction of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Inverse,
}

impl Direction {
    /// The other one.
    #[cfg(feature = "grad")]
    pub(super) fn reversed(self) -> Self {
        if self == Direction::Forward { Direction::Inverse } else { Direction::Forward }
    }
}

impl Norm {
    /// By which the other direction is scaled as this one is.
    #[cfg(feature = "grad")]
    pub(super) fn reversed(self) -> Self {
        match self {
            Norm::Backward => Norm::Forward,
            Norm::Forward => Norm::Backward,
            Norm::Ortho => Norm::Ortho,
        }
    }
    #[cfg(feature = "any")]
    pub(crate) fn named(op: &'static str, name: Option<&str>) -> Result<Self> {
        match name {
            None | Some("backward") => Ok(Norm::Backward),
            Some("forward") => Ok(Norm::Forward),
            Some("ortho") => Ok(Norm::Ortho),
            Some(other) => invalid(op, format!("Invalid normalization mode: \"{other}\"")),
        }
    }
    pub(crate) fn scale(self, direction: Direction, n: usize) -> f64 {
        match (self, direction) {
            (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => 1.0 / n as f64,
            (Norm::Ortho, _) => 1.0 / (n as f64).sqrt(),
            _ => 1.0,
        }
    }
}
