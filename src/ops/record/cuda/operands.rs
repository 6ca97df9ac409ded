//! The operands of a described element as one struct, for kernels that are not loops over elements: `ci_elements`, which returns an
//! element, or a pack of them, by position.
//!
//! A device puts the struct before the text of a reduction and passes its bytes as the first argument.

use super::super::describe::Described;
use super::super::graph::Unreadable;
use super::{CudaCpp, c_type, dialect, library};
use crate::dtype::DType;
use core::fmt::Write as _;

/// The struct for stored elements.
pub(crate) fn stored(dtype: DType) -> String {
    let element = c_type(dtype);
    format!(
        "struct ci_elements {{\n  const {element} *p0;\n  CI_IN {element} one(ci_u64 at) const {{ return p0[at]; }}\n  \
         template<int P> CI_IN ci_pack<{element}, P> pack(ci_u64 at) const {{ return ci_load<{element}, P>(p0 + at, 0); }}\n}};\n"
    )
}

/// The struct for computed elements, and what it calls.
pub(crate) fn computed(described: &Described) -> Result<String, Unreadable> {
    let (kernel, result) = (&described.kernel, described.result);
    kernel.check()?;
    let mut text = library(kernel.functions.values());
    text += &dialect::element(&CudaCpp, kernel, "one", result);
    text += "struct ci_elements {\n";
    for (at, &(dtype, _)) in kernel.operands.iter().enumerate() {
        let _ = writeln!(text, "  alignas(8) const {} *p{at};", c_type(dtype));
    }
    for (at, &dtype) in kernel.parameters.iter().enumerate() {
        let _ = writeln!(text, "  alignas(8) {} s{at};", c_type(dtype));
    }
    let element = |of: &dyn Fn(usize) -> String, index: &str| {
        let operands = (0..kernel.operands.len()).map(of);
        let values = (0..kernel.parameters.len()).map(|at| format!("s{at}"));
        let all: Vec<String> = operands.chain(values).chain([format!("(ci_i64)({index})")]).collect();
        format!("one_element({})", all.join(", "))
    };
    let out = c_type(result.dtype);
    let one = element(&|at| format!("p{at}[at]"), "at");
    let _ = writeln!(text, "  CI_IN {out} one(ci_u64 at) const {{ return {one}; }}");
    let _ = writeln!(text, "  template<int P> CI_IN ci_pack<{out}, P> pack(ci_u64 at) const {{");
    for (at, &(dtype, _)) in kernel.operands.iter().enumerate() {
        let ty = c_type(dtype);
        let _ = writeln!(text, "    const ci_pack<{ty}, P> a{at} = ci_load<{ty}, P>(p{at} + at, 0);");
    }
    let one = element(&|at| format!("a{at}.of[k]"), "at + k");
    let _ = writeln!(
        text,
        "    ci_pack<{out}, P> results;\n    CI_UNROLL\n    for (int k = 0; k < P; k++) results.of[k] = {one};\n    \
         return results;\n  }}\n}};"
    );
    Ok(text)
}

/// Only the function `{name}_element` of an element per operand, the values and the position, with what it calls, and the types of the
/// values.
pub(crate) fn element(described: &Described, name: &str) -> Result<(String, Vec<&'static str>), Unreadable> {
    let (kernel, result) = (&described.kernel, described.result);
    kernel.check()?;
    let text = library(kernel.functions.values()) + &dialect::element(&CudaCpp, kernel, name, result);
    Ok((text, kernel.parameters.iter().map(|&dtype| c_type(dtype)).collect()))
}
