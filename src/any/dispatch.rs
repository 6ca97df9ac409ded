//! From a dtype as a value to code over its type: each set of dtypes is written once. (The typed operations' bounds hold for these.)

/// Runs code with the type of one of the dtypes listed, or gives an error that the operation does not admit it.
macro_rules! among {
    ($op:expr, $dtype:expr, $E:ident => $body:expr; $($variant:ident $ty:ty),*) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $E = $ty;
                $body
            })*
            #[allow(unreachable_patterns)]
            other => Err($crate::any::dispatch::refused($op, other)),
        }
    };
}

/// The 13 dtypes that compute.
macro_rules! computing {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64,
            C32 $crate::Complex<$crate::f16>, C64 $crate::Complex<f32>, C128 $crate::Complex<f64>)
    };
}

/// All dtypes that convert.
macro_rules! convertible {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64,
            C32 $crate::Complex<$crate::f16>, C64 $crate::Complex<f32>, C128 $crate::Complex<f64>,
            U16 u16, U32 u32, U64 u64, F8E4M3FN $crate::F8E4M3FN, F8E4M3FNUZ $crate::F8E4M3FNUZ, F8E5M2 $crate::F8E5M2,
            F8E5M2FNUZ $crate::F8E5M2FNUZ, F8E8M0FNU $crate::F8E8M0FNU)
    };
}

/// All dtypes, for what needs no arithmetic.
macro_rules! storable {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F4E2M1FNX2 => {
                type $E = $crate::F4E2M1FNX2;
                $body
            }
            dtype => $crate::any::dispatch::convertible!($op, dtype, $E => $body),
        }
    };
}

/// All computing dtypes with an order.
macro_rules! ordered {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
}

/// All computing dtypes but `bool`.
macro_rules! numeric {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64,
            C32 $crate::Complex<$crate::f16>, C64 $crate::Complex<f32>, C128 $crate::Complex<f64>)
    };
}

/// Integers and floats.
macro_rules! real {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
}

/// Floats.
macro_rules! floats {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64)
    };
}

/// Floats and complex.
macro_rules! inexact {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        $crate::any::dispatch::among!($op, $dtype, $E => $body;
            F16 $crate::f16, BF16 $crate::bf16, F32 f32, F64 f64,
            C32 $crate::Complex<$crate::f16>, C64 $crate::Complex<f32>, C128 $crate::Complex<f64>)
    };
}

pub(super) use {among, computing, convertible, floats, inexact, numeric, ordered, real, storable};

use crate::dtype::DType;
use crate::error::Error;

/// The error for a dtype that an operation does not admit.
#[cold]
pub(super) fn refused(op: &'static str, dtype: DType) -> Error {
    let reason = if dtype.is_shell() {
        "promotion is not defined for it: shell dtypes can be stored, moved, compared and cast; cast first, for example to float32"
    } else {
        "the operation does not admit it"
    };
    Error::NotAdmitted { op, dtype, reason: reason.to_owned() }
}
