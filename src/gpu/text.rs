//! The text of a kernel of one's own: the dtypes by Rust's names, the kernel's head, and the body that was written.

use super::kernel::{Call, Role};
use crate::cuda::compile::Source;
use crate::dtype::DType;
use core::fmt::Write as _;

/// The type of elements of a dtype in `elements.h`.
fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C32 => "Complex<f16>",
        DType::C64 => "Complex<f32>",
        DType::C128 => "Complex<f64>",
        DType::U16 => "u16",
        DType::U32 => "u32",
        DType::U64 => "u64",
        DType::F8E4M3FN => "F8E4M3FN",
        DType::F8E4M3FNUZ => "F8E4M3FNUZ",
        DType::F8E5M2 => "F8E5M2",
        DType::F8E5M2FNUZ => "F8E5M2FNUZ",
        DType::F8E8M0FNU => "F8E8M0FNU",
        DType::F4E2M1FNX2 => "F4E2M1FNX2",
    }
}

/// The text of a call's kernel: the parameters in their order, then the sizes that are known at run time.
pub(super) fn source(call: &Call<'_>, [before, body]: [&'static str; 2]) -> Source {
    let pointers = call.parameters.iter().map(|parameter| {
        let (name, element) = (parameter.name, c_type(parameter.dtype));
        match parameter.role {
            Role::Scalar => format!("const {element} {name}"),
            Role::Read => format!("const {element} *__restrict__ {name}"),
            Role::Written => format!("{element} *__restrict__ {name}"),
        }
    });
    let (known, asked): (Vec<_>, Vec<_>) = call.sizes.iter().partition(|size| size.is_known);
    let sizes = asked.iter().map(|size| format!("const i64 {}", size.name));
    let parameters: Vec<String> = pointers.chain(sizes).collect();
    let mut text = include_str!("elements.h").to_owned();
    let name = call.name;
    let _ = writeln!(text, "{before}\nextern \"C\" __global__ void {name}({}) {{", parameters.join(", "));
    for (name, dtype) in &call.types {
        let _ = writeln!(text, "typedef {} {name};", c_type(*dtype));
    }
    for size in known {
        let _ = writeln!(text, "constexpr i64 {} = {};", size.name, size.value());
    }
    let _ = writeln!(text, "{body}\n}}");
    Source { name: name.to_owned(), text }
}
