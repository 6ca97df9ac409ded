//! Scans as C++ structs.

use super::super::lane::RecordedScan;
use super::super::rows::computes_in;
use super::{c_type, fields, library, number, parts, structure};
use std::fmt::Write as _;

/// A scan as a struct of its name, and what it calls. It has
/// - the types `element`, `out`, `partial` (the value of a segment of the lane), and `second_out` if it has two results;
/// - `has_start`, and `start()`, the initial value if it has one; the functions `of(x, index)`, a segment of one element, `merge(p, q)`, a
///   segment and the one after it, `emit(p)`, the result at the end of a segment that begins with the lane (and with `start`), and
///   `second(p)`.
///
/// Indices are `ci_i64`. The prelude must precede it.
pub(crate) fn scan(of: &RecordedScan) -> String {
    let RecordedScan { name, element, out, computes, has_start, partial: kinds, .. } = of;
    let partial = format!("{name}_partial");
    let mut text = structure(&partial, 'f', kinds) + &library(&of.functions);
    let wide = c_type(computes_in(*computes));
    let _ = writeln!(
        text,
        "struct {name} {{\n  typedef {} element; typedef {} out; typedef {partial} partial;\n  \
         static const bool has_start = {has_start};",
        c_type(*element),
        c_type(*out)
    );
    if *has_start {
        let _ = writeln!(text, "  static CI_IN partial start() {{ return {name}_start(); }}");
    }
    let as_result = number("x", *element, *out);
    let narrow = if element == out { "x".into() } else { format!("ci_cast<{}>(x)", c_type(*out)) };
    let v = match computes {
        // The result is another number than the elements.
        _ if of.finishes => format!("ci_cast<{wide}>(x)"),
        computes if computes == out => as_result,
        _ => format!("ci_cast<{wide}>({narrow})"),
    };
    let of_one = [parts("v", *computes), vec!["i".into()]].concat().join(", ");
    let merge = [fields("p", 'f', kinds), fields("q", 'f', kinds)].concat().join(", ");
    let _ = writeln!(
        text,
        "  static CI_IN partial of(const element x, const ci_i64 i) {{ const {wide} v = {v}; return {name}_of({of_one}); }}\n  \
         static CI_IN partial merge(const partial p, const partial q) {{ return {name}_merge({merge}); }}"
    );
    let result = fields("p", 'f', kinds).join(", ");
    let first = if of.finishes {
        format!("{name}_finish({result})")
    } else if computes.is_complex() {
        format!("{wide}{{p.f0, p.f1}}")
    } else {
        "p.f0".into()
    };
    let _ = writeln!(text, "  static CI_IN out emit(const partial p) {{ return ci_cast<out>({first}); }}");
    if of.has_positions {
        let last = kinds.len() - 1;
        let _ = writeln!(
            text,
            "  typedef ci_i64 second_out;\n  static CI_IN second_out second(const partial p) {{ return p.f{last}; }}"
        );
    }
    text + "};\n"
}
