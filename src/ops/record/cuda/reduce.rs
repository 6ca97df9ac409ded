//! Reducers as C++ structs.

use super::super::reduce::RecordedReducer;
use super::super::rows::computes_in;
use super::{c_type, fields, library, number, parts, structure};
use std::fmt::Write as _;

/// A reducer as a struct of its name, and what it calls. It has
/// - the types `element`, `out`, `partial` (the accumulator), `given` (the run-time values), and `second_out` if it has two results;
/// - the functions `start(g)`, `accumulate(p, x, index, g)`, `merge(p, q, g)`, `finish(p, count, g)`, and `second(p, count, g)`.
///
/// Positions and counts are `ci_i64`. The prelude must precede it.
pub(crate) fn reducer(of: &RecordedReducer) -> String {
    let RecordedReducer { name, partial: partial_kinds, given, computes, .. } = of;
    let partial = format!("{name}_partial");
    // (What gives the second result precedes the steps.)
    let second = format!("{name}_second");
    let (seconds, steps): (Vec<_>, Vec<_>) = of.functions.iter().partition(|function| function.name == second);
    let mut text = structure(&partial, 'f', partial_kinds);
    if !seconds.is_empty() {
        text += &library(seconds);
    }
    text += &library(steps);
    let _ = writeln!(text, "struct {name} {{");
    let (element, out) = (c_type(of.element), c_type(of.out));
    let _ = writeln!(text, "  typedef {element} element; typedef {out} out; typedef {partial} partial;");
    text += &format!("  {}", structure("given", 'g', given));
    let (p, g) = (fields("p", 'f', partial_kinds), fields("g", 'g', given));
    let wide = c_type(computes_in(*computes));
    let mut function = |head: &str, body: String| {
        let _ = writeln!(text, "  static CI_IN {head} {{ {body} }}");
    };
    function("partial start(const given g)", format!("return {name}_start();"));
    let arguments = [p.clone(), parts("v", *computes), vec!["i".into()], g.clone()].concat().join(", ");
    let v = number("x", of.element, *computes);
    function(
        "partial accumulate(const partial p, const element x, const ci_i64 i, const given g)",
        format!("const {wide} v = {v}; return {name}_accumulate({arguments});"),
    );
    let arguments = [p.clone(), fields("q", 'f', partial_kinds)].concat().join(", ");
    function(
        "partial merge(const partial p, const partial q, const given g)",
        format!("return {name}_merge({arguments});"),
    );
    let counted = [p.clone(), vec!["n".into()]].concat().join(", ");
    let arguments = [p.clone(), parts("v", *computes), g].concat().join(", ");
    function(
        "out finish(const partial p, const ci_i64 n, const given g)",
        format!(
            "const {wide} v = ci_cast<{wide}>((double){name}_counted({counted})); \
             return ci_cast<out>({name}_finish({arguments}));"
        ),
    );
    if let Some(out) = of.second {
        let _ = writeln!(text, "  typedef {} second_out;", c_type(out));
        let _ = writeln!(
            text,
            "  static CI_IN second_out second(const partial p, const ci_i64 n, const given g) \
             {{ return ci_cast<second_out>({second}({})); }}",
            p.join(", ")
        );
    }
    text + "};\n"
}
