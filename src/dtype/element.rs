//! The two tiers: `Element` (can be stored) and `Dtype` (computes).

use super::category;
use super::compute::Compute;
use super::half::SmallFloat;
use super::laws::{BesideBool, BesideComplexDouble, BesideInexact, BesideReal, BesideSum};
use super::promote::{Promotable, Same};
use super::scalar::{Scalar, ScalarValue};
use super::shell::*;
use super::table::{dtype_table, types_of};
use super::{Castable, DType, sealed};
use ::half::{bf16, f16};
use num_complex::Complex;

/// A type that tensors can hold: one of PyTorch's 22 dtypes, the Rust type being the dtype marker.
///
/// The 13 computing dtypes implement [`Dtype`] as well; the other nine are *shells*, which can be created,
/// stored, moved, compared and cast, but have no arithmetic.
///
/// ```
/// use castiron::{DType, Element};
/// fn name<E: Element>() -> &'static str { E::DTYPE.name() }
/// assert_eq!(name::<f32>(), "float32");
/// assert_eq!(name::<castiron::Complex<f64>>(), "complex128");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype: it cannot be the element of a tensor",
    label = "not one of PyTorch's dtypes",
    note = "elements are bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64> and the shell dtypes"
)]
pub trait Element: sealed::Sealed + Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static {
    /// The dtype as a value.
    const DTYPE: DType;
    /// boolean, integral, floating or complex.
    type Category: category::Marker + category::NotAbove<Self::Category>;
    /// The dtype of the real part: the component of a complex dtype, else `Self` (`torch.dtype.to_real`).
    type Real: Element;
    /// The value, by category (PyTorch: `item`); the code for the packed `float4_e2m1fn_x2`.
    fn to_scalar(self) -> ScalarValue;
}

/// A dtype that computes: arithmetic, promotion, comparison, reduction.
///
/// The bound for generic code. It implies the laws with which same-dtype code type-checks without where-clauses: a dtype promoted with
/// itself, or with a scalar of its own category, is itself.
///
/// ```
/// use castiron::{Device, Dtype, Shape, Tensor};
/// fn axpy<E: Dtype, S: Shape, D: Device>(a: E, x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, S, D> {
///     x * a + y
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not compute: promotion is not defined for shell dtypes",
    label = "arithmetic needs one of the 13 computing dtypes",
    note = "cast first, for example `.to::<f32>()`; shell dtypes (u16, u32, u64, float8, float4) can be stored, moved and cast, and compared by functions: `shells::eq(&x, &y)`"
)]
pub trait Dtype:
    Promotable<With<Self> = Self>
    + Promotable<Over<Self> = Self>
    + Promotable<Over<<Self as Promotable>::Scalar> = Self>
    + Promotable<Meet<Self> = Same<Self>>
    + BesideBool
    + BesideReal
    + BesideInexact
    + BesideSum
    + BesideComplexDouble
    + Castable
    + Scalar<Counts = <Self as Promotable>::Scalar>
{
    /// The compute type (PyTorch: `opmath`): the type itself, or the next wider float for `f16`, `bf16` and `Complex<f16>`.
    #[doc(hidden)]
    type Compute: Compute<Real: Castable> + Dtype<Compute = Self::Compute>;
    #[doc(hidden)]
    fn to_compute(self) -> Self::Compute;
    #[doc(hidden)]
    fn from_compute(value: Self::Compute) -> Self;
    /// The same, optimised for single numbers: it branches, which vectorised loops cannot.
    #[doc(hidden)]
    #[inline(always)]
    fn from_compute_alone(value: Self::Compute) -> Self {
        Self::from_compute(value)
    }
    /// The same for a value that the dtype represents exactly.
    #[doc(hidden)]
    #[inline(always)]
    fn from_exact(value: Self::Compute) -> Self {
        Self::from_compute(value)
    }
    /// The bits of a 16-bit float.
    #[doc(hidden)]
    #[inline(always)]
    fn half_bits(self) -> u16 {
        super::compute::refused()
    }
    /// The 16-bit float of these bits.
    #[doc(hidden)]
    #[inline(always)]
    fn from_half_bits(_bits: u16) -> Self {
        super::compute::refused()
    }
}

macro_rules! impl_element {
    ($($variant:ident: $ty:ty, $name:literal [$($alias:literal),*], $category:ident, $signed:literal, $real:ty,
       $tier:ident, $doc:literal, $dlpack:tt, $stored:tt;)*) => {$(
        impl crate::sealed::Sealed for $ty {}
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const DTYPE: DType = DType::$variant;
            type Category = category::$category;
            type Real = $real;
            #[inline]
            fn to_scalar(self) -> ScalarValue {
                Valued::scalar(self)
            }
        }
    )*};
}
dtype_table!(impl_element);

/// The scalar value of an element.
trait Valued {
    fn scalar(self) -> ScalarValue;
}
impl<T: Scalar> Valued for T {
    fn scalar(self) -> ScalarValue {
        Scalar::value(self)
    }
}
macro_rules! float8_values {
    ($($ty:ty),*) => {$(
        impl Valued for $ty {
            fn scalar(self) -> ScalarValue {
                ScalarValue::Float(self.to_f32().into())
            }
        }
    )*};
}
types_of!(float8s float8_values);
impl Valued for F4E2M1FNX2 {
    fn scalar(self) -> ScalarValue {
        ScalarValue::Float(self.to_bits().into())
    }
}

/// Dtypes that compute in their own type.
macro_rules! computes_itself {
    ($($ty:ty),*) => {$(
        impl Dtype for $ty {
            type Compute = $ty;
            #[inline(always)]
            fn to_compute(self) -> $ty {
                self
            }
            #[inline(always)]
            fn from_compute(value: $ty) -> $ty {
                value
            }
        }
    )*};
}
computes_itself!(bool, u8, i8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64>);

/// Half-precision dtypes compute in `f32` and round once at the end, like PyTorch's kernels (`opmath`).
macro_rules! computes_in_f32 {
    ($($ty:ty),*) => {$(
        impl Dtype for $ty {
            type Compute = f32;
            #[inline(always)]
            fn to_compute(self) -> f32 {
                self.widen()
            }
            #[inline(always)]
            fn from_compute(value: f32) -> $ty {
                <$ty>::narrow(value)
            }
            #[inline(always)]
            fn from_compute_alone(value: f32) -> $ty {
                <$ty>::narrow_alone(value)
            }
            #[inline(always)]
            fn from_exact(value: f32) -> $ty {
                <$ty>::narrow_exact(value)
            }
            #[inline(always)]
            fn half_bits(self) -> u16 {
                self.to_bits()
            }
            #[inline(always)]
            fn from_half_bits(bits: u16) -> $ty {
                <$ty>::from_bits(bits)
            }
        }
    )*};
}
computes_in_f32!(f16, bf16);

impl Dtype for Complex<f16> {
    type Compute = Complex<f32>;
    #[inline(always)]
    fn to_compute(self) -> Complex<f32> {
        Complex::new(self.re.widen(), self.im.widen())
    }
    #[inline(always)]
    fn from_compute(value: Complex<f32>) -> Self {
        Complex::new(f16::narrow(value.re), f16::narrow(value.im))
    }
}
