//! Whole kernels: the loop around a described element, for each memory layout of its operands.

use super::super::describe::Described;
use super::super::graph::Unreadable;
use super::super::kernel::{Kernel, Value};
use super::super::plan::{Form, Layout, pack, size_of};
use super::{CudaCpp, c_type, dialect, library, listed, tiles};
use crate::dtype::DType;
use core::fmt::Write as _;

/// The type of positions, if strided.
fn word(layout: Layout) -> Option<&'static str> {
    layout.is_wide().map(|is_wide| if is_wide { "ci_u64" } else { "unsigned" })
}

/// The types of the parameters of a whole kernel, each with its name.
pub(crate) fn parameters(kernel: &Kernel, dtype: DType, form: Form) -> Vec<(String, String)> {
    let restrict = if form.in_place { "" } else { " __restrict__" };
    let operands = kernel.operands.iter().enumerate();
    let mut all: Vec<_> =
        operands.map(|(at, &(dtype, _))| (format!("const {}*{restrict}", c_type(dtype)), format!("p{at}"))).collect();
    let values = kernel.parameters.iter().enumerate();
    all.extend(values.map(|(at, &dtype)| (format!("const {}", c_type(dtype)), format!("s{at}"))));
    all.push((format!("{}*{restrict}", c_type(dtype)), "out".into()));
    let strided = word(form.layout);
    let word = strided.unwrap_or("ci_u64");
    all.push((format!("const {word}"), "n".into()));
    if strided.is_some() {
        let of = if matches!(form.layout, Layout::Tiles { .. }) { "ci_tiles" } else { "ci_strides" };
        all.push((format!("const {of}<{word}, {}>", kernel.operands.len() + 1), "at".into()));
    }
    all
}

/// The text of a described kernel, without the prelude; only after `Kernel::written`.
pub(crate) fn source(described: &Described, name: &str, form: Form) -> Result<String, Unreadable> {
    of_kernel(&described.kernel, name, described.result, form)
}
/// The text of the kernel that stores this value.
pub(in super::super) fn of_kernel(
    kernel: &Kernel,
    name: &str,
    result: Value,
    form: Form,
) -> Result<String, Unreadable> {
    kernel.check()?;
    let out = c_type(result.dtype);
    let mut text = library(kernel.functions.values());
    text.push_str(&dialect::element(&CudaCpp, kernel, name, result));
    if let Layout::Tiles { edge, .. } = form.layout {
        text.push_str(&tiles::declarations(edge));
    }
    let values = || kernel.parameters.iter().enumerate();

    let parameters = parameters(kernel, result.dtype, form).into_iter().map(|(ty, name)| format!("{ty} {name}"));
    let _ = writeln!(text, "CI_KERNEL void {name}({}) {{", listed(parameters));
    // A call of the element function, given the expression of each operand's position.
    let element = |place: &dyn Fn(usize) -> String, index: &str| {
        let operands = (0..kernel.operands.len()).map(place);
        let all = operands.chain(values().map(|(at, _)| format!("s{at}"))).chain([format!("(ci_i64)({index})")]);
        format!("{name}_element({})", listed(all))
    };
    let word = word(form.layout).unwrap_or("ci_u64");
    let alone = element(&|at| format!("p{at}[i]"), "i");
    let _ = match form.layout {
        Layout::Contiguous => writeln!(text, "  CI_EACH(i, n) out[i] = {alone};"),
        Layout::Packs => {
            let pack = pack(kernel.dtypes(result.dtype).map(size_of));
            let _ = writeln!(text, "  const ci_u64 packs = n / {pack};\n  CI_EACH(pack, packs) {{");
            for (at, &(dtype, _)) in kernel.operands.iter().enumerate() {
                let ty = c_type(dtype);
                let _ = writeln!(text, "    const ci_pack<{ty}, {pack}> a{at} = ci_load<{ty}, {pack}>(p{at}, pack);");
            }
            let one = element(&|at| format!("a{at}.of[k]"), &format!("pack * {pack} + k"));
            let _ = writeln!(text, "    ci_pack<{out}, {pack}> results;\n    CI_UNROLL");
            let _ = writeln!(text, "    for (int k = 0; k < {pack}; k++) results.of[k] = {one};");
            let _ = writeln!(text, "    ci_store<{out}, {pack}>(out, pack, results);\n  }}");
            let _ = writeln!(text, "  CI_EACH(rest, n - packs * {pack}) {{");
            writeln!(text, "    const ci_u64 i = packs * {pack} + rest;\n    out[i] = {alone};\n  }}")
        }
        Layout::Rows { broadcast, .. } => {
            tiles::rows(kernel, &mut text, result.dtype, word, broadcast, &element);
            Ok(())
        }
        Layout::Tiles { turned, edge, .. } => {
            tiles::tiles(kernel, &mut text, word, (turned, edge), &element);
            Ok(())
        }
        Layout::Strided32 | Layout::Strided64 => {
            let one = element(&|at| format!("p{at}[to[{}]]", at + 1), "i");
            let _ = writeln!(text, "  CI_EACH_OF({word}, i, n) {{\n    {word} to[{}];", kernel.operands.len() + 1);
            writeln!(text, "    ci_find(at, i, to);\n    out[to[0]] = {one};\n  }}")
        }
    };
    text.push_str("}\n");
    Ok(text)
}
