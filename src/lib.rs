//! castiron
extern crate self as castiron;
mod cpu;
pub mod device;
pub mod dtype;
mod error;
pub mod ops;
pub mod shape;
mod storage;
mod tensor;

pub use castiron_macros::{dim, shape, tensor};
pub use device::{Cpu, Cuda, Device, Meta};
pub use dtype::{
    Bits, CanCast, CastTo, Category, Complex, ComplexFloat, DType, Dtype, Element, Float, Inexact, Integer, Numeric,
    Ordered, Promote, Promoted, Real, Scalar, ScalarValue, bf16, f16,
};
pub use dtype::{F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU};
pub use error::{Error, Result, Sizes};
pub use shape::{Axis, Dim, Dyn, KnownShape, Shape};
#[doc(hidden)]
pub use tensor::{Admits, AssignedTo, InPlace, RightOf, Writes};
pub use tensor::{
    Generator, Iter, JoinDtype, Joined, Layout, Operand, Outcome, Piece, Position, Stacked, Strided, Tensor,
    TensorOperand, cat, stack, try_cat, try_stack, try_where_, where_,
};
