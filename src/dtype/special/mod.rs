//! Functions of real numbers that `num_traits::Float` does not have, or not well enough.
//!
//! Those marked `wide` are computed in `f64`, and rounded where `f32` is asked for.

mod airy;
mod bessel;
mod gamma;
mod modified;
mod normal;

use super::MachineFloat;

/// A polynomial, the highest power first.
fn polynomial<T: MachineFloat>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().fold(T::zero(), |value, &coefficient| value * x + T::lit(coefficient))
}

/// `libm`'s gives numbers for some arguments below 1.
fn acosh_single(x: f32) -> f32 {
    if x < 1.0 { f32::NAN } else { libm::acoshf(x) }
}
fn acosh_double(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// For `erfc: erfcf erfc` it writes `fn erfc(self) -> Self`, in each precision by the function named; for those of one name
/// the `f32` method goes through `f64`.
macro_rules! special_functions {
    (
        each { $($each:ident: $single:path, $double:path, $each_doc:literal;)* }
        wide { $($wide:ident: $function:path, $wide_doc:literal;)* }
        wide_of_two { $($two:ident($second:ident): $of_two:path;)* }
    ) => {
        /// Special functions.
        pub trait Special: Sized {
            $(#[doc = $each_doc] fn $each(self) -> Self;)*
            $(#[doc = $wide_doc] fn $wide(self) -> Self;)*
            $(#[doc = "See `gamma`."] fn $two(self, $second: Self) -> Self;)*
            /// The next number towards another.
            fn next_towards(self, other: Self) -> Self;
            /// Times a power of two, rounded once.
            fn scaled_by(self, exponent: i32) -> Self;
        }
        impl Special for f32 {
            $(#[inline] fn $each(self) -> f32 { $single(self) })*
            $(#[inline] fn $wide(self) -> f32 { $function(f64::from(self)) as f32 })*
            $(#[inline] fn $two(self, $second: f32) -> f32 { $of_two(f64::from(self), f64::from($second)) as f32 })*
            #[inline]
            fn next_towards(self, other: f32) -> f32 {
                libm::nextafterf(self, other)
            }
            #[inline]
            fn scaled_by(self, exponent: i32) -> f32 {
                libm::scalbnf(self, exponent)
            }
        }
        impl Special for f64 {
            $(#[inline] fn $each(self) -> f64 { $double(self) })*
            $(#[inline] fn $wide(self) -> f64 { $function(self) })*
            $(#[inline] fn $two(self, $second: f64) -> f64 { $of_two(self, $second) })*
            #[inline]
            fn next_towards(self, other: f64) -> f64 {
                libm::nextafter(self, other)
            }
            #[inline]
            fn scaled_by(self, exponent: i32) -> f64 {
                libm::scalbn(self, exponent)
            }
        }
    };
}
special_functions! {
    each {
        asinh: libm::asinhf, libm::asinh, "The inverse hyperbolic sine.";
        atanh: libm::atanhf, libm::atanh, "The inverse hyperbolic tangent.";
        acosh: acosh_single, acosh_double, "The inverse hyperbolic cosine; NaN below 1.";
        lgamma: libm::lgammaf, libm::lgamma, "The logarithm of the absolute value of the gamma function.";
        digamma: gamma::digamma, gamma::digamma, "See `gamma`.";
        trigamma: gamma::trigamma, gamma::trigamma, "See `gamma`.";
        log_ndtr: normal::log_ndtr, normal::log_ndtr, "See `normal`.";
        airy_ai: airy::ai, airy::ai, "See `airy`.";
        bessel_j0: bessel::j0, bessel::j0, "See `bessel`.";
        bessel_j1: bessel::j1, bessel::j1, "See `bessel`.";
        bessel_y0: bessel::y0, bessel::y0, "See `bessel`.";
        bessel_y1: bessel::y1, bessel::y1, "See `bessel`.";
    }
    wide {
        erfinv: normal::erfinv, "See `normal`.";
        erfcx: normal::erfcx, "See `normal`.";
        ndtri: normal::ndtri, "See `normal`.";
        i0e: modified::i0e, "See `bessel`.";
        i1e: modified::i1e, "See `bessel`.";
        k0: modified::k0, "See `bessel`.";
        k0e: modified::k0e, "See `bessel`.";
        k1: modified::k1, "See `bessel`.";
        k1e: modified::k1e, "See `bessel`.";
        spherical_j0: modified::spherical_j0, "See `bessel`.";
    }
    wide_of_two {
        zeta(q): gamma::zeta;
    }
}
