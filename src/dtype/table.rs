//! The only list of dtypes. Every property of a dtype (its Rust type, PyTorch's names, its category) is written here once, and read by
//! `Element`, `DType`, `finfo`/`iinfo` and the aliases.

/// Calls `$use!` with one row per dtype:
/// `Variant: type, "PyTorch name" ["other names"], Category, signed, Real, tier;`
///
/// For example the row `F32` makes the `DType` enum contain
/// ```text
/// /// `float32`: …
/// F32,
/// ```
/// and `impl Element for f32 { const DTYPE: DType = DType::F32; type Category = Floating; type Real = f32; }`.
macro_rules! dtype_table {
    ($use:ident) => {
        $use! {
            Bool: bool, "bool" [], Boolean, false, bool, Computing, "a truth value in one byte";
            U8: u8, "uint8" [], Integral, false, u8, Computing, "8-bit unsigned integer";
            I8: i8, "int8" [], Integral, true, i8, Computing, "8-bit signed integer";
            I16: i16, "int16" ["short"], Integral, true, i16, Computing, "16-bit signed integer";
            I32: i32, "int32" ["int"], Integral, true, i32, Computing, "32-bit signed integer";
            I64: i64, "int64" ["long"], Integral, true, i64, Computing, "64-bit signed integer";
            F16: f16, "float16" ["half"], Floating, true, f16, Computing, "IEEE binary16, S-E-M 1-5-10";
            BF16: bf16, "bfloat16" [], Floating, true, bf16, Computing, "brain floating point, S-E-M 1-8-7";
            F32: f32, "float32" ["float"], Floating, true, f32, Computing, "IEEE binary32";
            F64: f64, "float64" ["double"], Floating, true, f64, Computing, "IEEE binary64";
            C32: Complex<f16>, "complex32" ["chalf"], Complex, true, f16, Computing, "complex of two `float16`";
            C64: Complex<f32>, "complex64" ["cfloat"], Complex, true, f32, Computing, "complex of two `float32`";
            C128: Complex<f64>, "complex128" ["cdouble"], Complex, true, f64, Computing, "complex of two `float64`";
            U16: u16, "uint16" [], Integral, false, u16, Shell, "16-bit unsigned integer (shell)";
            U32: u32, "uint32" [], Integral, false, u32, Shell, "32-bit unsigned integer (shell)";
            U64: u64, "uint64" [], Integral, false, u64, Shell, "64-bit unsigned integer (shell)";
            F8E4M3FN: F8E4M3FN, "float8_e4m3fn" [], Floating, true, F8E4M3FN, Shell, "8-bit float, S-E-M 1-4-3, no infinity (shell)";
            F8E4M3FNUZ: F8E4M3FNUZ, "float8_e4m3fnuz" [], Floating, true, F8E4M3FNUZ, Shell, "8-bit float, S-E-M 1-4-3, no infinity, no negative zero (shell)";
            F8E5M2: F8E5M2, "float8_e5m2" [], Floating, true, F8E5M2, Shell, "8-bit float, S-E-M 1-5-2 (shell)";
            F8E5M2FNUZ: F8E5M2FNUZ, "float8_e5m2fnuz" [], Floating, true, F8E5M2FNUZ, Shell, "8-bit float, S-E-M 1-5-2, no infinity, no negative zero (shell)";
            F8E8M0FNU: F8E8M0FNU, "float8_e8m0fnu" [], Floating, false, F8E8M0FNU, Shell, "8-bit power of two, S-E-M 0-8-0 (shell)";
            F4E2M1FNX2: F4E2M1FNX2, "float4_e2m1fn_x2" [], Floating, true, F4E2M1FNX2, Shell, "two packed 4-bit floats, S-E-M 1-2-1 (shell)";
        }
    };
}
pub(crate) use dtype_table;
