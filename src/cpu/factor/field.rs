//! The numbers that matrices are factored in: castiron's dtypes as `faer`'s fields.

use crate::dtype::{Complex, Float, Inexact};
use crate::error::Result;
use core::ops::{AddAssign, DivAssign, MulAssign, Neg, SubAssign};

/// Sealed: matrices are factored in four dtypes. What computes with them is named here alone, so that another version of it changes no
/// bound that users see.
mod sealed {
    /// A number of `faer` and of castiron's loops.
    pub trait Number: faer::traits::ComplexField + num_traits::NumAssign {}
    /// A real one.
    pub trait Real: faer::traits::RealField {}
}

/// The dtypes that matrices are factored in: `f32`, `f64`, `Complex<f32>` and `Complex<f64>`. For real numbers only, the bound is
/// [`RealField`], whose results have the same dtype.
///
/// ```
/// use castiron::{Field, Tensor, shape};
/// fn energy<E: Field>(x: &Tensor<E, shape![_, _]>) -> Tensor<E::Re, shape![_]> {
///     x.svdvals()
/// }
/// assert_eq!(energy(&castiron::tensor![[3.0, 0.0], [0.0, 4.0]].with_shape()).to_vec(), [4.0, 3.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "linear algebra is not defined for `{Self}`",
    label = "expected `f32`, `f64`, `Complex<f32>` or `Complex<f64>`",
    note = "in generic code the bound is `E: RealField` (`f32` and `f64`), or `E: Field`, of which complex numbers are, too",
    note = "as in PyTorch, integers and 16-bit floats are cast first, for example `.to::<f32>()`"
)]
pub trait Field:
    sealed::Number<Real = <Self as Field>::Re>
    + Inexact
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The real dtype of this precision: the dtype of singular values and norms.
    type Re: RealField + sealed::Real + Float<Complex = Self::Cx>;
    /// The complex dtype of this precision: the dtype of eigenvalues.
    type Cx: Field<Re = Self::Re, Cx = Self::Cx>;

    #[doc(hidden)]
    fn conjugate(self) -> Self;
    #[doc(hidden)]
    fn real_part(self) -> Self::Re;
    #[doc(hidden)]
    fn imaginary_part(self) -> Self::Re;
    #[doc(hidden)]
    fn of_real(real: Self::Re) -> Self;
    #[doc(hidden)]
    fn complex(self) -> Self::Cx;
    #[doc(hidden)]
    fn of_parts(re: Self::Re, im: Self::Re) -> Self::Cx;
    #[doc(hidden)]
    fn modulus(self) -> Self::Re;
    #[doc(hidden)]
    fn times_real(self, by: Self::Re) -> Self;
    #[doc(hidden)]
    fn over_real(self, by: Self::Re) -> Self;
    /// The quotient, without overflow for any divisor: `num-complex`'s division squares the divisor.
    #[doc(hidden)]
    fn over(self, by: Self) -> Self;
    /// `|re| + |im|`, by which LAPACK chooses pivots.
    #[doc(hidden)]
    fn size(self) -> Self::Re {
        num_traits::Float::abs(self.real_part()) + num_traits::Float::abs(self.imaginary_part())
    }
    #[doc(hidden)]
    fn finite(self) -> bool {
        num_traits::Float::is_finite(self.real_part()) && num_traits::Float::is_finite(self.imaginary_part())
    }
    #[doc(hidden)]
    fn of_f64(value: f64) -> Self {
        Self::of_real(Self::real(value))
    }
    /// Converts to the real type of this precision.
    #[doc(hidden)]
    fn real(value: f64) -> Self::Re;
    /// A standard normal number from real standard normal numbers; the parts of a complex one share the variance.
    #[doc(hidden)]
    fn normal(draw: &mut dyn FnMut() -> f64) -> Self;
    #[doc(hidden)]
    fn eigen(matrix: faer::MatRef<'_, Self>, vectors: bool) -> Result<Option<(Vec<Self::Cx>, Vec<Self::Cx>)>>;
}

/// The real dtypes that matrices are factored in: `f32` and `f64`. This one bound suffices for generic linear algebra: its results
/// (products, norms, singular values, determinants) have the same dtype, and scalars support `num_traits::Float`.
///
/// ```
/// use castiron::{Dim, RealField, Tensor, tensor};
/// /// The logarithm of a normal distribution's density.
/// fn log_density<E: RealField, N: Dim>(x: &Tensor<E, (N,)>, covariance: &Tensor<E, (N, N)>) -> E {
///     let (_, log_det) = covariance.slogdet();
///     let tau = E::from_f64(core::f64::consts::TAU).ln() * E::from_f64(x.numel() as f64);
///     ((x.dot(&covariance.solve(x)) + log_det).item() + tau) * E::from_f64(-0.5)
/// }
/// let density = log_density(&tensor![0.0, 0.0], &tensor![[1.0, 0.0], [0.0, 1.0]]);
/// assert!((density + core::f32::consts::TAU.ln()).abs() < 1e-6);
/// ```
#[diagnostic::on_unimplemented(
    message = "real linear algebra is not defined for `{Self}`",
    label = "expected `f32` or `f64`",
    note = "integers and 16-bit floats are cast first, for example `.to::<f32>()`; of complex numbers the bound is `Field`"
)]
pub trait RealField: Float + num_traits::Float + Field<Re = Self, Cx = <Self as Float>::Complex> {}
impl RealField for f32 {}
impl RealField for f64 {}

macro_rules! fields {
    ($($real:ty)*) => {$(
        impl sealed::Number for $real {}
        impl sealed::Real for $real {}
        impl sealed::Number for Complex<$real> {}
        impl Field for $real {
            type Re = $real;
            type Cx = Complex<$real>;
            fn conjugate(self) -> Self {
                self
            }
            fn real_part(self) -> $real {
                self
            }
            fn imaginary_part(self) -> $real {
                0.0
            }
            fn of_real(real: $real) -> Self {
                real
            }
            fn complex(self) -> Complex<$real> {
                Complex::new(self, 0.0)
            }
            fn of_parts(re: $real, im: $real) -> Complex<$real> {
                Complex::new(re, im)
            }
            fn modulus(self) -> $real {
                self.abs()
            }
            fn times_real(self, by: $real) -> Self {
                self * by
            }
            fn over_real(self, by: $real) -> Self {
                self / by
            }
            fn over(self, by: Self) -> Self {
                self / by
            }
            fn real(value: f64) -> $real {
                value as $real
            }
            fn normal(draw: &mut dyn FnMut() -> f64) -> Self {
                draw() as $real
            }
            fn eigen(matrix: faer::MatRef<'_, Self>, vectors: bool) -> Result<Option<(Vec<Self::Cx>, Vec<Self::Cx>)>> {
                super::eigen::real(matrix, vectors)
            }
        }
        impl Field for Complex<$real> {
            type Re = $real;
            type Cx = Complex<$real>;
            fn conjugate(self) -> Self {
                self.conj()
            }
            fn real_part(self) -> $real {
                self.re
            }
            fn imaginary_part(self) -> $real {
                self.im
            }
            fn of_real(real: $real) -> Self {
                Complex::new(real, 0.0)
            }
            fn complex(self) -> Self {
                self
            }
            fn of_parts(re: $real, im: $real) -> Self {
                Complex::new(re, im)
            }
            fn modulus(self) -> $real {
                self.norm()
            }
            fn times_real(self, by: $real) -> Self {
                Complex::new(self.re * by, self.im * by)
            }
            fn over_real(self, by: $real) -> Self {
                Complex::new(self.re / by, self.im / by)
            }
            // Source: Smith, "Algorithm 116: Complex division" (1962).
            fn over(self, by: Self) -> Self {
                let (a, b) = (self.re, self.im);
                if by.re.abs() >= by.im.abs() {
                    let ratio = by.im / by.re;
                    let divisor = by.re + by.im * ratio;
                    Complex::new((a + b * ratio) / divisor, (b - a * ratio) / divisor)
                } else {
                    let ratio = by.re / by.im;
                    let divisor = by.re * ratio + by.im;
                    Complex::new((a * ratio + b) / divisor, (b * ratio - a) / divisor)
                }
            }
            fn real(value: f64) -> $real {
                value as $real
            }
            fn normal(draw: &mut dyn FnMut() -> f64) -> Self {
                let mut part = || (draw() * core::f64::consts::FRAC_1_SQRT_2) as $real;
                Complex::new(part(), part())
            }
            fn eigen(matrix: faer::MatRef<'_, Self>, vectors: bool) -> Result<Option<(Vec<Self::Cx>, Vec<Self::Cx>)>> {
                super::eigen::complex(matrix, vectors)
            }
        }
    )*};
}
fields!(f32 f64);
