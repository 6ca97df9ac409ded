//! The numbers that matrices are factored in: what `faer` calls a field, and our dtypes beside it.
//! Used by `cpu::factor` and, as a bound, by `tensor::decompose`.

use crate::dtype::{Complex, Element, Inexact};
use crate::error::Result;
use core::ops::Neg;
use faer::traits::{ComplexField, RealField};
use num_traits::{Float, NumAssign};

/// What the loops of `cpu::factor` ask of a number.
#[doc(hidden)]
pub trait FieldNumber:
    Inexact + ComplexField<Real = <Self as FieldNumber>::Re> + NumAssign + Neg<Output = Self> + Send + Sync
{
    /// Its real part: singular values.
    type Re: FieldNumber<Re = Self::Re, Cx = Self::Cx> + RealField + Float;
    /// The complex number of this precision: eigenvalues.
    type Cx: FieldNumber<Re = Self::Re, Cx = Self::Cx>;

    fn conjugate(self) -> Self;
    fn real_part(self) -> Self::Re;
    fn imaginary_part(self) -> Self::Re;
    fn of_real(real: Self::Re) -> Self;
    fn complex(self) -> Self::Cx;
    fn of_parts(re: Self::Re, im: Self::Re) -> Self::Cx;
    fn modulus(self) -> Self::Re;
    fn times_real(self, by: Self::Re) -> Self;
    fn over_real(self, by: Self::Re) -> Self;
    /// Its quotient, whatever the size of the divisor: that of two complex numbers as `num-complex` has it squares the divisor.
    fn over(self, by: Self) -> Self;
    /// `|re| + |im|`, by which LAPACK chooses pivots.
    fn size(self) -> Self::Re {
        Float::abs(self.real_part()) + Float::abs(self.imaginary_part())
    }
    fn finite(self) -> bool {
        self.real_part().is_finite() && self.imaginary_part().is_finite()
    }
    fn of_f64(value: f64) -> Self {
        Self::of_real(Self::real(value))
    }
    /// A real number of this precision.
    fn real(value: f64) -> Self::Re;
    /// A normal number of variance 1, from such real ones; the parts of a complex one share the variance.
    fn normal(draw: &mut dyn FnMut() -> f64) -> Self;
    fn eigen(matrix: faer::MatRef<'_, Self>, vectors: bool) -> Result<Option<(Vec<Self::Cx>, Vec<Self::Cx>)>>;
}

macro_rules! fields {
    ($($real:ty)*) => {$(
        impl FieldNumber for $real {
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
        impl FieldNumber for Complex<$real> {
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

/// The dtypes that matrices are factored in: `f32`, `f64`, `Complex<f32>` and `Complex<f64>`.
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
    note = "as in PyTorch, integers and 16-bit floats are cast first, for example `.to::<f32>()`"
)]
pub trait Field: FieldNumber + Element {}
impl<E: FieldNumber> Field for E {}
