//! Functions of real numbers that `num_traits::Float` lacks, or does not compute accurately enough.
//!
//! `called` functions are provided by devices; `each` marks formulas computed in the dtype itself, `wide` formulas computed in `f64` and
//! rounded for `f32`. They are branch-free, so that loops vectorise; a name ending in `_small` is valid up to a bound only, while the plain
//! one may call functions. The expression after each is its derivative at `x`, where its value is `y`.

mod airy;
mod bessel;
mod gamma;
mod incomplete;
mod modified;
mod normal;
mod poly;

use super::MachineFloat;

/// A special function of one variable, for generic numbers: `T::special::<function::erfinv>(x)`.
pub trait Function: 'static {
    /// The name.
    const NAME: &'static str;
    /// How it is recorded.
    const READING: Reading;
    /// For `f32`.
    fn single(x: f32) -> f32;
    /// For `f64`.
    fn double(x: f64) -> f64;
    /// Its formula; the function itself if it has no formula that can be recorded.
    fn formula<T: MachineFloat>(x: T) -> T;
    /// Its derivative at `x`, where its value is `y`; NaN if not provided.
    fn derivative<T: MachineFloat>(x: T, y: T) -> T;
}

/// How a special function is recorded.
#[derive(Clone, Copy)]
pub enum Reading {
    /// As a call of the device's function.
    Call,
    /// As its formula, in the dtype itself.
    Formula,
    /// As its formula, in `f64`.
    WideFormula,
}

/// The same for two variables; computed in `f64`.
pub trait FunctionOfTwo: 'static {
    /// The name.
    const NAME: &'static str;
    /// For `f32`.
    fn single(a: f32, b: f32) -> f32;
    /// For `f64`.
    fn double(a: f64, b: f64) -> f64;
    /// Its derivatives by `a` and by `b`, where its value is `y`; NaN if not provided.
    fn derivatives<T: MachineFloat>(a: T, b: T, y: T) -> [T; 2];
}

/// `erfinv: normal::erfinv, |x, y| …, "…";` writes the marker `function::erfinv`, which implements `Function`, and the method `erfinv` of
/// `Special`.
macro_rules! special_functions {
    (
        called { $($called:ident: $called_path:path, |$ox:pat_param, $oy:pat_param| $called_derivative:expr, $called_doc:literal;)* }
        each { $($each:ident: $each_path:path, |$ex:pat_param, $ey:pat_param| $each_derivative:expr, $each_doc:literal;)* }
        wide { $($wide:ident: $wide_path:path, |$wx:pat_param, $wy:pat_param| $wide_derivative:expr, $wide_doc:literal;)* }
        wide_of_two { $($two:ident: $two_path:path, |$a:pat_param, $b:pat_param, $ty:pat_param| $two_derivatives:expr, $two_doc:literal;)* }
    ) => {
        /// Special functions.
        pub trait Special: MachineFloat {
            special_functions! { @methods $($called $called_doc,)* $($each $each_doc,)* $($wide $wide_doc,)* }
            $(
                #[doc = $two_doc]
                #[inline(always)]
                fn $two(self, other: Self) -> Self {
                    Self::special_of_two::<function::$two>(self, other)
                }
            )*
        }
        impl<T: MachineFloat> Special for T {}

        /// The special functions as types, by name.
        pub(crate) mod function {
            special_functions! { @types $($called)* $($each)* $($wide)* $($two)* }
        }
        $(special_functions! {
            @function $called Call |x| $called_path(f64::from(x)) as f32, $called_path(x), |x| x.$called(), |$ox, $oy| $called_derivative;
        })*
        $(special_functions! {
            @function $each Formula |x| $each_path(x), $each_path(x), |x| $each_path(x), |$ex, $ey| $each_derivative;
        })*
        $(special_functions! {
            @function $wide WideFormula |x| $wide_path(f64::from(x)) as f32, $wide_path(x), |x| $wide_path(x), |$wx, $wy| $wide_derivative;
        })*
        $(impl FunctionOfTwo for function::$two {
            const NAME: &'static str = stringify!($two);
            #[inline]
            fn single(a: f32, b: f32) -> f32 {
                $two_path(f64::from(a), f64::from(b)) as f32
            }
            #[inline]
            fn double(a: f64, b: f64) -> f64 {
                $two_path(a, b)
            }
            fn derivatives<T: MachineFloat>($a: T, $b: T, $ty: T) -> [T; 2] {
                $two_derivatives
            }
        })*
    };
    (@methods $($name:ident $doc:literal,)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        fn $name(self) -> Self {
            Self::special::<function::$name>(self)
        }
    )*};
    (@types $($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[allow(non_camel_case_types)]
        pub(crate) struct $name {}
    )*};
    (@function $name:ident $reading:ident |$x:ident| $single:expr, $double:expr, |$f:ident| $formula:expr, |$dx:pat_param, $dy:pat_param| $derivative:expr;) => {
        impl Function for function::$name {
            const NAME: &'static str = stringify!($name);
            const READING: Reading = Reading::$reading;
            #[inline(always)]
            fn single($x: f32) -> f32 {
                $single
            }
            #[inline(always)]
            fn double($x: f64) -> f64 {
                $double
            }
            fn formula<T: MachineFloat>($f: T) -> T {
                $formula
            }
            #[inline(always)]
            fn derivative<T: MachineFloat>($dx: T, $dy: T) -> T {
                $derivative
            }
        }
    };
}
special_functions! {
    called {
        digamma: gamma::digamma, |x, _| x.trigamma(), "The logarithmic derivative of the gamma function.";
        lgamma: gamma::lgamma, |x, _| x.digamma(), "The logarithm of the absolute value of the gamma function.";
    }
    each {
        trigamma: gamma::trigamma, |x, _| T::lit(-2.0) * T::lit(3.0).zeta(x), "See `gamma`.";
        log_ndtr: normal::log_ndtr, |x, y| T::FRAC_1_SQRT_2() * T::FRAC_2_SQRT_PI() * T::lit(0.5) * (-x * x * T::lit(0.5) - y).exp(), "See `normal`.";
        airy_ai: airy::ai, |_, _| T::nan(), "See `airy`.";
        airy_ai_small: airy::ai_small, |_, _| T::nan(), "See `airy`.";
        bessel_j0: bessel::j0, |x, _| -x.bessel_j1(), "See `bessel`.";
        bessel_j0_small: bessel::j0_small, |x, _| -x.bessel_j1(), "See `bessel`.";
        bessel_j1: bessel::j1, |x, y| if x == T::zero() { T::lit(0.5) } else { x.bessel_j0() - y / x }, "See `bessel`.";
        bessel_j1_small: bessel::j1_small, |x, y| if x == T::zero() { T::lit(0.5) } else { x.bessel_j0() - y / x }, "See `bessel`.";
        bessel_y0: bessel::y0, |x, _| -x.bessel_y1(), "See `bessel`.";
        bessel_y0_small: bessel::y0_small, |x, _| -x.bessel_y1(), "See `bessel`.";
        bessel_y1: bessel::y1, |x, y| x.bessel_y0() - y / x, "See `bessel`.";
        bessel_y1_small: bessel::y1_small, |x, y| x.bessel_y0() - y / x, "See `bessel`.";
    }
    wide {
        ndtri: normal::ndtri, |_, y| T::elementary::<super::math::Exp>(y * y * T::lit(0.5)) * T::lit(2.0) / (T::FRAC_1_SQRT_2() * T::FRAC_2_SQRT_PI()), "See `normal`.";
        i0: modified::i0, |x, _| x.i1(), "See `modified`.";
        i0e: modified::i0e, |x, y| x.i1e() - if x == T::zero() { T::zero() } else { y.copysign(x) }, "See `modified`.";
        i1: modified::i1, |x, y| if x == T::zero() { T::lit(0.5) } else { x.i0() - y / x }, "See `modified`.";
        i1e: modified::i1e, |x, y| if x == T::zero() { T::lit(0.5) } else { x.i0e() - y * (T::one().copysign(x) + x.recip()) }, "See `modified`.";
        k0: modified::k0, |x, _| -x.k1(), "See `modified`.";
        k0e: modified::k0e, |x, y| y - x.k1e(), "See `modified`.";
        k1: modified::k1, |x, y| -x.k0() - y / x, "See `modified`.";
        k1e: modified::k1e, |x, y| y - x.k0e() - y / x, "See `modified`.";
        spherical_j0: modified::spherical_j0, |x, y| if x == T::zero() { T::zero() } else { (x.cos() - y) / x }, "See `modified`.";
        spherical_j0_small: modified::spherical_j0_small, |x, y| if x == T::zero() { T::zero() } else { (x.cos() - y) / x }, "See `modified`.";
    }
    wide_of_two {
        zeta: gamma::zeta, |a, b, _| [T::nan(), -a * (a + T::one()).zeta(b)], "See `gamma`.";
        igamma: incomplete::igamma, |a, x, _| [T::nan(), density(a, x)], "See `incomplete`.";
        igammac: incomplete::igammac, |a, x, _| [T::nan(), -density(a, x)], "See `incomplete`.";
    }
}

/// The derivative of `igamma` by `x`: `x^(a-1) e^-x / gamma(a)`.
fn density<T: MachineFloat>(a: T, x: T) -> T {
    ((a - T::one()) * x.ln() - x - a.lgamma()).exp()
}
