//! Elementary functions of f32 and f64 that compilers turn into vector instructions: straight-line arithmetic without
//! branches, tables, calls or fused multiply-adds, hence the same bits on every machine. At most 2 ulp off everywhere.
//!
//! Uses nothing of the crate; the formulas of the operations use it.
//!
//! Every function is generic over [`Real`], that is f32 and f64. `sin`, `cos` and `tan` alone may call a library: they do
//! beyond [`TRIG_LIMIT`], and loops should ask once for a block and then use the `_small` forms.

#[macro_use]
mod poly;
mod arc;
mod erf;
mod exp;
mod hyper;
mod log;
mod pow;
mod real;
#[cfg(test)]
mod tests;
mod trig;

use arc::{acos, asin, atan, atan2};
use erf::{erf, erfc};
use exp::{exp, exp2, expm1};
use hyper::{acosh, asinh, atanh, cosh, sinh, tanh};
use log::{log, log1p, log2, log10};
use pow::pow;
pub(crate) use real::Real;
pub(crate) use trig::TRIG_LIMIT;
use trig::{cos, cos_small, sin, sin_small, tan, tan_small};

/// A function of one variable, for formulas that are generic over the float: `T::elementary::<Exp>(x)`.
pub trait Elementary {
    /// The function.
    fn of<T: Real>(x: T) -> T;
}

/// For `Exp = exp;` it writes the marker `Exp` and `impl Elementary for Exp`, which calls `exp`.
macro_rules! elementary {
    ($($marker:ident = $function:ident;)*) => {$(
        #[doc = concat!("`", stringify!($function), "`")]
        pub(crate) struct $marker;
        impl Elementary for $marker {
            #[inline(always)]
            fn of<T: Real>(x: T) -> T {
                $function(x)
            }
        }
    )*};
}
elementary! {
    Exp = exp; Exp2 = exp2; Expm1 = expm1; Log = log; Log2 = log2; Log10 = log10; Log1p = log1p;
    Sin = sin; Cos = cos; Tan = tan; Asin = asin; Acos = acos; Atan = atan; Sinh = sinh; Cosh = cosh; Tanh = tanh;
    Asinh = asinh; Acosh = acosh; Atanh = atanh;
    Erf = erf; Erfc = erfc; SinSmall = sin_small; CosSmall = cos_small; TanSmall = tan_small;
}

/// A function of two variables, likewise.
pub trait ElementaryOfTwo {
    /// The function.
    fn of<T: Real>(a: T, b: T) -> T;
}

/// As `elementary!`.
macro_rules! elementary_of_two {
    ($($marker:ident = $function:ident;)*) => {$(
        #[doc = concat!("`", stringify!($function), "`")]
        pub(crate) struct $marker;
        impl ElementaryOfTwo for $marker {
            #[inline(always)]
            fn of<T: Real>(a: T, b: T) -> T {
                $function(a, b)
            }
        }
    )*};
}
elementary_of_two! { Pow = pow; Atan2 = atan2; }
