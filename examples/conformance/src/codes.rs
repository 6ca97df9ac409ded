//! The tables' names of the dtypes.

use castiron::DType;

/// The tables' names of the dtypes.
const CODES: [(&str, DType); 22] = [
    ("bool", DType::Bool),
    ("u8", DType::U8),
    ("i8", DType::I8),
    ("i16", DType::I16),
    ("i32", DType::I32),
    ("i64", DType::I64),
    ("u16", DType::U16),
    ("u32", DType::U32),
    ("u64", DType::U64),
    ("f16", DType::F16),
    ("bf16", DType::BF16),
    ("f32", DType::F32),
    ("f64", DType::F64),
    ("c32", DType::C32),
    ("c64", DType::C64),
    ("c128", DType::C128),
    ("f8e4m3fn", DType::F8E4M3FN),
    ("f8e4m3fnuz", DType::F8E4M3FNUZ),
    ("f8e5m2", DType::F8E5M2),
    ("f8e5m2fnuz", DType::F8E5M2FNUZ),
    ("f8e8m0fnu", DType::F8E8M0FNU),
    ("f4e2m1x2", DType::F4E2M1FNX2),
];

/// The dtype with this name; `None` for Python scalars and errors.
pub fn dtype(code: &str) -> Option<DType> {
    CODES.iter().find(|(name, _)| *name == code).map(|(_, dtype)| *dtype)
}

/// The name that the tables have for a dtype.
pub fn code(dtype: DType) -> &'static str {
    CODES.iter().find(|(_, of)| *of == dtype).map_or("", |(name, _)| *name)
}
