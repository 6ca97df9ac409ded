//! PyTorch's names for the dtypes, as Rust aliases.
//!
//! ```
//! use castiron::dtype::aliases::{bfloat16, long};
//! use castiron::Tensor;
//! let t: Tensor<long, castiron::shape![3]> = castiron::tensor![1, 2, 3];
//! let _: Tensor<bfloat16, castiron::shape![3]> = t.to::<bfloat16>();
//! assert_eq!(castiron::tensor![1, 2; long].to_vec(), [1, 2]);
//! ```
#![allow(non_camel_case_types)]

pub use super::shell::aliases::*;
use ::half::{bf16, f16};
use num_complex::Complex;

macro_rules! aliases {
    ($($name:ident = $ty:ty;)*) => {$(
        #[doc = concat!("`torch.", stringify!($name), "`")]
        pub type $name = $ty;
    )*};
}
aliases! {
    uint8 = u8;
    int8 = i8;
    int16 = i16;
    short = i16;
    int32 = i32;
    int = i32;
    int64 = i64;
    long = i64;
    float16 = f16;
    half = f16;
    bfloat16 = bf16;
    float32 = f32;
    float = f32;
    float64 = f64;
    double = f64;
    complex32 = Complex<f16>;
    chalf = Complex<f16>;
    complex64 = Complex<f32>;
    cfloat = Complex<f32>;
    complex128 = Complex<f64>;
    cdouble = Complex<f64>;
    uint16 = u16;
    uint32 = u32;
    uint64 = u64;
}
