//! Element types: the dtypes, their categories, promotion, casting and conversion.
//!
//! The Rust element type is itself the dtype marker: `f32` *is* PyTorch's `float32`. There are two tiers:
//! [`Element`] is everything that can be stored (22 types), [`Dtype`] the 13 that compute. Between them
//! stand named sets for the operations that exclude some: [`Numeric`], [`Real`], [`Ordered`], [`Bits`],
//! [`Integer`], [`Inexact`], [`Float`], [`ComplexFloat`].
//!
//! Depends on nothing else in the crate; shapes, devices and tensors depend on it.

pub mod aliases;
mod cast;
pub mod category;
pub(crate) mod compute;
mod default;
mod element;
mod fast_path;
mod half;
mod info;
#[doc(hidden)]
pub mod laws;
mod machine;
pub(crate) mod math;
pub(crate) mod numbers;
pub mod promote;
mod result;
mod runtime;
pub mod scalar;
mod sets;
pub(crate) mod shell;
pub(crate) mod special;
pub(crate) mod table;
pub(crate) mod width;

pub use cast::{CanCast, CastTo};
pub use category::Category;
pub use default::{DefaultDTypeGuard, default_complex_dtype, default_dtype, scoped_default_dtype, set_default_dtype};
pub use element::{Dtype, Element};
pub use info::{FloatInfo, IntInfo};
pub use promote::{Promotable, Promote, Promoted};
pub use result::{OperandType, ResultOperand, can_cast, promote_types, result_type, result_type_of};
pub use runtime::{DType, ParseDTypeError};
pub use scalar::{Scalar, ScalarValue};
#[doc(hidden)]
pub use sets::is;
pub use sets::{Bits, ComplexFloat, Float, Inexact, Integer, Numeric, Ordered, Real};
pub use shell::*;

pub use ::half::{bf16, f16};
pub use num_complex::Complex;

#[doc(hidden)]
pub use cast::Castable;
#[doc(hidden)]
pub use compute::{
    Binary, Compare, Compute, Many, Parameters, Predicate, Several, ToReal, Tuned, Unary, Visitor, refused,
};
#[doc(hidden)]
pub use fast_path::{FastPath, FastPathByScalar, FastPathOfTwo};
#[doc(hidden)]
pub(crate) use machine::{Analytic, outline_complex};
#[doc(hidden)]
pub use machine::{MachineFloat, MachineInt, Truth};
pub(crate) use special::Special;

pub(crate) mod sealed {
    /// Dtypes are a closed set: promotion, casting and kernels are tables in this crate.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tensor element: the dtypes are a closed set",
        label = "not one of PyTorch's dtypes",
        note = "elements are bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64> and the shell dtypes"
    )]
    pub trait Sealed: crate::sealed::Sealed {}
}
