//! CUDA C++: the dialect, whole kernels around described elements (`loops`, `tiles`), and structs of steps, over which a device's kernels
//! of reductions, lanes and products are written once.
//!
//! `prelude.h`, `float8.h` and `incomplete.h` hold what the text calls. With `CI_HOST` it compiles as plain C++, too.

mod lane;
mod loops;
mod operands;
mod product;
mod reduce;
mod row;
mod tiles;

use super::dialect::{self, Dialect, Role};
use super::graph::{Family, Function, Kind, Step};
use super::rows::computes_in;
use crate::dtype::DType;

pub(crate) use lane::scan;
pub(crate) use loops::source;
#[cfg(test)]
pub(super) use loops::{of_kernel, parameters};
pub(crate) use operands::{computed, element, stored};
pub(crate) use product::{product, product_values};
pub(crate) use reduce::reducer;
pub(crate) use row::row;

/// The start of every text.
#[cfg(test)]
pub(crate) const PRELUDE: &str =
    concat!(include_str!("prelude.h"), include_str!("float8.h"), include_str!("incomplete.h"));

/// A complete text: the prelude, `float8.h` and `incomplete.h` if needed, and the text itself.
pub(crate) fn with_prelude(text: &str) -> String {
    let floats = match ["ci_e4m3", "ci_e5m2", "ci_e8m0"].iter().any(|name| text.contains(name)) {
        true => include_str!("float8.h"),
        false => "",
    };
    let gammas = if text.contains("ci_special_igamma") { include_str!("incomplete.h") } else { "" };
    [include_str!("prelude.h"), floats, gammas, text].concat()
}

/// The dialect.
pub(crate) struct CudaCpp;

/// The type of elements of a dtype.
pub(crate) fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "ci_u8",
        DType::I8 => "ci_i8",
        DType::I16 => "ci_i16",
        DType::I32 => "ci_i32",
        DType::I64 => "ci_i64",
        DType::F16 => "ci_f16",
        DType::BF16 => "ci_bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C32 => "ci_c<ci_f16>",
        DType::C64 => "ci_c<float>",
        DType::C128 => "ci_c<double>",
        DType::U16 => "ci_u16",
        DType::U32 => "ci_u32",
        DType::U64 => "ci_u64",
        DType::F8E4M3FN => "ci_e4m3fn",
        DType::F8E4M3FNUZ => "ci_e4m3fnuz",
        DType::F8E5M2 => "ci_e5m2",
        DType::F8E5M2FNUZ => "ci_e5m2fnuz",
        DType::F8E8M0FNU => "ci_e8m0fnu",
        // Two numbers per byte, which are only copied.
        DType::F4E2M1FNX2 => "ci_byte",
    }
}

impl Dialect for CudaCpp {
    fn number(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Bool => "bool",
            Kind::U8 => "ci_u8",
            Kind::I8 => "ci_i8",
            Kind::I16 => "ci_i16",
            Kind::I32 => "ci_i32",
            Kind::I64 => "ci_i64",
            Kind::F32 => "float",
            Kind::F64 => "double",
        }
    }
    fn pair(&self, kind: Kind) -> String {
        format!("ci_c<{}>", self.number(kind))
    }
    fn element(&self, dtype: DType) -> &'static str {
        c_type(dtype)
    }
    fn constant(&self, bits: u64, kind: Kind) -> String {
        let integer = |value: i64| {
            let ty = self.number(kind);
            if i32::try_from(value).is_ok_and(|value| value != i32::MIN) {
                format!("({ty}){value}")
            } else {
                format!("({ty}){bits:#x}ull")
            }
        };
        match kind {
            Kind::Bool => (bits != 0).to_string(),
            Kind::F32 if f32::from_bits(bits as u32).is_finite() => format!("{:?}f", f32::from_bits(bits as u32)),
            Kind::F32 => format!("ci_f32({bits:#x}u)"),
            Kind::F64 if f64::from_bits(bits).is_finite() => format!("{:?}", f64::from_bits(bits)),
            Kind::F64 => format!("ci_f64({bits:#x}ull)"),
            Kind::U8 => integer(bits as i64),
            Kind::I8 => integer((bits as i8).into()),
            Kind::I16 => integer((bits as i16).into()),
            Kind::I32 => integer((bits as i32).into()),
            Kind::I64 => integer(bits as i64),
        }
    }
    fn step(&self, step: Step, of: Kind, operands: &[String]) -> String {
        let prefix = match step.family {
            Family::Operator => {
                let wraps = match step.name {
                    _ if matches!(of, Kind::F32 | Kind::F64 | Kind::Bool) => None,
                    "+" => Some("ci_add"),
                    "-" if operands.len() == 1 => Some("ci_neg"),
                    "-" => Some("ci_sub"),
                    "*" => Some("ci_mul"),
                    "/" => Some("ci_quotient"),
                    _ => None,
                };
                return match (wraps, operands) {
                    (Some(name), operands) => format!("{name}({})", operands.join(", ")),
                    (None, [x]) => format!("{}({x})", step.name),
                    (None, operands) => operands.join(&format!(" {} ", step.name)),
                };
            }
            Family::Basic | Family::Elementary => "ci_",
            Family::Platform => "ci_platform_",
            Family::Special => "ci_special_",
        };
        format!("{prefix}{}({})", step.name, operands.join(", "))
    }
    fn part(&self, pair: &str, at: usize) -> String {
        format!("{pair}{}", [".re", ".im"][at])
    }
    fn cast(&self, value: &str, to: DType) -> String {
        format!("ci_cast<{}>({value})", c_type(to))
    }
    fn choose(&self, condition: &str, yes: &str, no: &str) -> String {
        format!("{condition} ? {yes} : {no}")
    }
    fn is_same_byte(&self, a: &str, b: &str) -> String {
        format!("{a}.bits == {b}.bits")
    }
    fn library(&self, name: &str) -> String {
        format!("ci_{name}")
    }
    fn head(&self, role: Role, name: &str, arguments: &[(&str, String)], result: &str) -> String {
        let (qualifier, constant) = match role {
            Role::Formula => ("CI_FN", ""),
            Role::Part => ("CI_PART", ""),
            Role::Element => ("CI_FN", "const "),
        };
        let arguments = listed(arguments.iter().map(|(ty, name)| format!("{constant}{ty} {name}")));
        format!("{qualifier} {result} {name}({arguments})")
    }
    fn declared(&self, head: &str) -> String {
        format!("{head};\n")
    }
    fn bind(&self, ty: &str, name: &str, value: &str) -> String {
        format!("const {ty} {name} = {value};")
    }
    fn give(&self, of: Option<&str>, values: &[String]) -> String {
        match of {
            None => format!("return {};", values.join(", ")),
            Some(of) => format!("return {of}{{{}}};", values.join(", ")),
        }
    }
    fn branch(&self, condition: &str) -> String {
        format!("if ({condition}) {{")
    }
}

/// The text of functions with the parts they need, each once, without the prelude.
pub(crate) fn library<'a>(functions: impl IntoIterator<Item = &'a Function>) -> String {
    dialect::functions(&CudaCpp, functions)
}

/// Comma-separated texts.
fn listed(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}
/// `struct name { float f0; … };`
fn structure(name: &str, prefix: char, fields: &[Kind]) -> String {
    let fields: String =
        fields.iter().enumerate().map(|(at, &kind)| format!(" {} {prefix}{at};", CudaCpp.number(kind))).collect();
    format!("struct {name} {{{fields} }};\n")
}
/// The fields of a struct, or the parts of a number, as arguments.
fn fields(of: &str, prefix: char, kinds: &[Kind]) -> Vec<String> {
    (0..kinds.len()).map(|at| format!("{of}.{prefix}{at}")).collect()
}
/// A number of this dtype as arguments.
fn parts(of: &str, dtype: DType) -> Vec<String> {
    if dtype.is_complex() { (0..2).map(|at| CudaCpp.part(of, at)).collect() } else { vec![of.into()] }
}
/// An element as the number that a dtype computes in.
fn number(element: &str, from: DType, computes: DType) -> String {
    let wide = computes_in(computes);
    let same = if from == computes { element.into() } else { CudaCpp.cast(element, computes) };
    if wide == computes { same } else { CudaCpp.cast(&same, wide) }
}
