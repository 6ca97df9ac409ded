//! Functions of real numbers that `num_traits::Float` does not have, or not well enough.
//!
//! Most are computed in `f64`; the `f32` functions round its results.

mod bessel;
mod gamma;
mod normal;

/// A polynomial, the highest power first.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(0.0, |value, coefficient| value * x + coefficient)
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
        acosh: libm::acoshf, libm::acosh, "The inverse hyperbolic cosine.";
        atanh: libm::atanhf, libm::atanh, "The inverse hyperbolic tangent.";
        erfc: libm::erfcf, libm::erfc, "The complementary error function.";
    }
    wide {
        lgamma: libm::lgamma, "The logarithm of the absolute value of the gamma function.";
        bessel_j0: libm::j0, "The Bessel function of the first kind of order 0.";
        bessel_j1: libm::j1, "The Bessel function of the first kind of order 1.";
        bessel_y0: libm::y0, "The Bessel function of the second kind of order 0.";
        bessel_y1: libm::y1, "The Bessel function of the second kind of order 1.";
        digamma: gamma::digamma, "See `gamma`.";
        erfinv: normal::erfinv, "See `normal`.";
        erfcx: normal::erfcx, "See `normal`.";
        ndtr: normal::ndtr, "See `normal`.";
        ndtri: normal::ndtri, "See `normal`.";
        log_ndtr: normal::log_ndtr, "See `normal`.";
        i0: bessel::i0, "See `bessel`.";
        i0e: bessel::i0e, "See `bessel`.";
        i1: bessel::i1, "See `bessel`.";
        i1e: bessel::i1e, "See `bessel`.";
        k0: bessel::k0, "See `bessel`.";
        k0e: bessel::k0e, "See `bessel`.";
        k1: bessel::k1, "See `bessel`.";
        k1e: bessel::k1e, "See `bessel`.";
        spherical_j0: bessel::spherical_j0, "See `bessel`.";
    }
    wide_of_two {
        polygamma(n): gamma::polygamma;
        mvlgamma(p): gamma::mvlgamma;
        zeta(q): gamma::zeta;
    }
}
