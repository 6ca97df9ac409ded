//! The only list of dtypes. Every property of a dtype (its Rust type, PyTorch's names, its category) is written here once, and read by
//! `Element`, `DType`, `finfo`/`iinfo` and the aliases.

/// Calls `$use!` with one row per dtype:
/// `Variant: type, "PyTorch name" ["other names"], Category, signed, Real, tier, "what it is", (code, bits, lanes) in DLPack, name in
/// safetensors or _;`
///
/// For example the row `F32` makes the `DType` enum contain
/// ```text
/// /// `float32`: …
/// F32,
/// ```
/// and `impl Element for f32 { const DTYPE: DType = DType::F32; type Category = Floating; type Real = f32; }`.
macro_rules! dtype_table {
    ($use:ident $($with:tt)?) => {
        $use! {
            $($with)?
            Bool: bool, "bool" [], Boolean, false, bool, Computing, "a truth value in one byte", (6, 8, 1), BOOL;
            U8: u8, "uint8" [], Integral, false, u8, Computing, "8-bit unsigned integer", (1, 8, 1), U8;
            I8: i8, "int8" [], Integral, true, i8, Computing, "8-bit signed integer", (0, 8, 1), I8;
            I16: i16, "int16" ["short"], Integral, true, i16, Computing, "16-bit signed integer", (0, 16, 1), I16;
            I32: i32, "int32" ["int"], Integral, true, i32, Computing, "32-bit signed integer", (0, 32, 1), I32;
            I64: i64, "int64" ["long"], Integral, true, i64, Computing, "64-bit signed integer", (0, 64, 1), I64;
            F16: f16, "float16" ["half"], Floating, true, f16, Computing, "IEEE binary16, S-E-M 1-5-10", (2, 16, 1), F16;
            BF16: bf16, "bfloat16" [], Floating, true, bf16, Computing, "brain floating point, S-E-M 1-8-7", (4, 16, 1), BF16;
            F32: f32, "float32" ["float"], Floating, true, f32, Computing, "IEEE binary32", (2, 32, 1), F32;
            F64: f64, "float64" ["double"], Floating, true, f64, Computing, "IEEE binary64", (2, 64, 1), F64;
            C32: Complex<f16>, "complex32" ["chalf"], Complex, true, f16, Computing, "complex of two `float16`", (5, 32, 1), _;
            C64: Complex<f32>, "complex64" ["cfloat"], Complex, true, f32, Computing, "complex of two `float32`", (5, 64, 1), C64;
            C128: Complex<f64>, "complex128" ["cdouble"], Complex, true, f64, Computing, "complex of two `float64`", (5, 128, 1), _;
            U16: u16, "uint16" [], Integral, false, u16, ShellInteger, "16-bit unsigned integer (shell)", (1, 16, 1), U16;
            U32: u32, "uint32" [], Integral, false, u32, ShellInteger, "32-bit unsigned integer (shell)", (1, 32, 1), U32;
            U64: u64, "uint64" [], Integral, false, u64, ShellInteger, "64-bit unsigned integer (shell)", (1, 64, 1), U64;
            F8E4M3FN: F8E4M3FN, "float8_e4m3fn" [], Floating, true, F8E4M3FN, Float8, "8-bit float, S-E-M 1-4-3, no infinity (shell)", (10, 8, 1), F8_E4M3;
            F8E4M3FNUZ: F8E4M3FNUZ, "float8_e4m3fnuz" [], Floating, true, F8E4M3FNUZ, Float8, "8-bit float, S-E-M 1-4-3, no infinity, no negative zero (shell)", (11, 8, 1), F8_E4M3FNUZ;
            F8E5M2: F8E5M2, "float8_e5m2" [], Floating, true, F8E5M2, Float8, "8-bit float, S-E-M 1-5-2 (shell)", (12, 8, 1), F8_E5M2;
            F8E5M2FNUZ: F8E5M2FNUZ, "float8_e5m2fnuz" [], Floating, true, F8E5M2FNUZ, Float8, "8-bit float, S-E-M 1-5-2, no infinity, no negative zero (shell)", (13, 8, 1), F8_E5M2FNUZ;
            F8E8M0FNU: F8E8M0FNU, "float8_e8m0fnu" [], Floating, false, F8E8M0FNU, Float8, "8-bit power of two, S-E-M 0-8-0 (shell)", (14, 8, 1), F8_E8M0;
            F4E2M1FNX2: F4E2M1FNX2, "float4_e2m1fn_x2" [], Floating, true, F4E2M1FNX2, Packed, "two packed 4-bit floats, S-E-M 1-2-1 (shell)", (17, 4, 2), F4;
        }
    };
}
pub(crate) use dtype_table;

/// Calls `$use!` with the types of some rows, separated by commas: `types_of!(float8s plain)` is `plain!(F8E4M3FN, …)`. The sets are
/// `shells` (all that do not compute), `float8s` and `shell_bytes` (of one byte).
macro_rules! types_of {
    ($set:ident $use:ident) => { $crate::dtype::table::dtype_table! { types_of { $set $use [] } } };
    ({ $set:ident $use:ident $types:tt } $variant:ident: $ty:ty, $name:literal $aliases:tt, $category:ident, $signed:literal, $real:ty,
     $tier:ident, $doc:literal, $dlpack:tt, $stored:tt; $($rest:tt)*) => { types_of! { @$set $tier $use $types $ty; $($rest)* } };
    ({ $set:ident $use:ident [$($ty:ty,)*] }) => { $use! { $($ty),* } };
    (@$set:ident Computing $use:ident $types:tt $ty:ty; $($rest:tt)*) => { types_of! { { $set $use $types } $($rest)* } };
    (@float8s Packed $use:ident $types:tt $ty:ty; $($rest:tt)*) => { types_of! { { float8s $use $types } $($rest)* } };
    (@float8s ShellInteger $use:ident $types:tt $ty:ty; $($rest:tt)*) => { types_of! { { float8s $use $types } $($rest)* } };
    (@shell_bytes ShellInteger $use:ident $types:tt $ty:ty; $($rest:tt)*) => { types_of! { { shell_bytes $use $types } $($rest)* } };
    (@$set:ident $tier:ident $use:ident [$($types:ty,)*] $ty:ty; $($rest:tt)*) => {
        types_of! { { $set $use [$($types,)* $ty,] } $($rest)* }
    };
}
pub(crate) use types_of;
