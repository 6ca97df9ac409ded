//! Elementary functions of f32 and f64 that vectorise: straight-line arithmetic without branches, tables, calls or fused multiply-adds,
//! hence bit-identical on every machine. The error is at most 2 ulp.
//!
//! Every function is generic over [`Real`], implemented by f32 and f64. Only `sin`, `cos` and `tan` branch: beyond [`TRIG_LIMIT`] they are
//! slower, so loops should test once per block and then use the `_small` forms.

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

use arc::{acos, asin, atan, atan2, hypot};
use erf::{erf, erfc, erfcx, erfinv};
use exp::{exp, exp_flushed, exp2, expm1};
use hyper::{acosh, asinh, atanh, cosh, sinh, tanh};
use log::{log, log1p, log2, log10};
use pow::pow;
pub(crate) use real::{Real, pick};
pub(crate) use trig::TRIG_LIMIT;
use trig::{cos, cos_small, sin, sin_small, tan, tan_small};

/// A function of one variable, for formulas that are generic over the float: `T::elementary::<Exp>(x)`.
pub trait Elementary: 'static {
    /// The name.
    const NAME: &'static str;
    /// The function.
    fn of<T: Real>(x: T) -> T;
    /// Its derivative at `x`, where its value is `y`.
    fn derivative<T: super::MachineFloat>(x: T, y: T) -> T;
}

/// `Exp = exp, |x, y| y;` writes the marker `Exp` and `impl Elementary for Exp`, which calls `exp`; the expression is its derivative at
/// `x`.
macro_rules! elementary {
    ($($marker:ident = $function:ident, |$x:pat_param, $y:pat_param| $derivative:expr;)*) => {$(
        #[doc = concat!("`", stringify!($function), "`")]
        pub(crate) struct $marker;
        impl Elementary for $marker {
            const NAME: &'static str = stringify!($function);
            #[inline(always)]
            fn of<T: Real>(x: T) -> T {
                $function(x)
            }
            #[inline(always)]
            fn derivative<T: super::MachineFloat>($x: T, $y: T) -> T {
                $derivative
            }
        }
    )*};
}
elementary! {
    Exp = exp, |_, y| y;
    ExpFlushed = exp_flushed, |_, y| y;
    Exp2 = exp2, |_, y| y * T::LN_2();
    Expm1 = expm1, |_, y| y + T::one();
    Log = log, |x, _| x.recip();
    Log2 = log2, |x, _| (x * T::LN_2()).recip();
    Log10 = log10, |x, _| (x * T::LN_10()).recip();
    Log1p = log1p, |x, _| (x + T::one()).recip();
    Sin = sin, |x, _| T::elementary::<Cos>(x);
    Cos = cos, |x, _| -T::elementary::<Sin>(x);
    Tan = tan, |_, y| T::one() + y * y;
    Asin = asin, |x, _| (T::one() - x * x).sqrt().recip();
    Acos = acos, |x, _| -(T::one() - x * x).sqrt().recip();
    Atan = atan, |x, _| (T::one() + x * x).recip();
    Sinh = sinh, |x, _| T::elementary::<Cosh>(x);
    Cosh = cosh, |x, _| T::elementary::<Sinh>(x);
    Tanh = tanh, |_, y| T::one() - y * y;
    Asinh = asinh, |x, _| (x * x + T::one()).sqrt().recip();
    Acosh = acosh, |x, _| (x * x - T::one()).sqrt().recip();
    Atanh = atanh, |x, _| (T::one() - x * x).recip();
    Erf = erf, |x, _| T::FRAC_2_SQRT_PI() * T::elementary::<Exp>(-x * x);
    Erfc = erfc, |x, _| -T::FRAC_2_SQRT_PI() * T::elementary::<Exp>(-x * x);
    Erfcx = erfcx, |x, y| (x + x) * y - T::FRAC_2_SQRT_PI();
    Erfinv = erfinv, |_, y| T::elementary::<Exp>(y * y) / T::FRAC_2_SQRT_PI();
    SinSmall = sin_small, |x, _| T::elementary::<CosSmall>(x);
    CosSmall = cos_small, |x, _| -T::elementary::<SinSmall>(x);
    TanSmall = tan_small, |_, y| T::one() + y * y;
}

/// A function of two variables.
pub trait ElementaryOfTwo: 'static {
    /// The name.
    const NAME: &'static str;
    /// The function.
    fn of<T: Real>(a: T, b: T) -> T;
    /// Its derivatives by `a` and by `b`, where its value is `y`.
    fn derivatives<T: super::MachineFloat>(a: T, b: T, y: T) -> [T; 2];
}

/// Like `elementary!`.
macro_rules! elementary_of_two {
    ($($marker:ident = $function:ident, |$a:pat_param, $b:pat_param, $y:pat_param| $derivatives:expr;)*) => {$(
        #[doc = concat!("`", stringify!($function), "`")]
        pub(crate) struct $marker;
        impl ElementaryOfTwo for $marker {
            const NAME: &'static str = stringify!($function);
            #[inline(always)]
            fn of<T: Real>(a: T, b: T) -> T {
                $function(a, b)
            }
            fn derivatives<T: super::MachineFloat>($a: T, $b: T, $y: T) -> [T; 2] {
                $derivatives
            }
        }
    )*};
}
elementary_of_two! {
    Pow = pow, |a, b, y| [b * T::elementary_of_two::<Pow>(a, b - T::one()), y * T::elementary::<Log>(a)];
    Atan2 = atan2, |a, b, _| {
        let square = a * a + b * b;
        [b / square, -a / square]
    };
    Hypot = hypot, |a, b, y| [a / y, b / y];
}
