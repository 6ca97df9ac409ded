//! Row functions as C++ structs.

use super::super::row::RecordedRow;
use super::super::rows::computes_in;
use super::{c_type, fields, library, number, parts, structure};
use std::fmt::Write as _;

/// A reducer of a row function, made of its four steps.
fn pass(of: &RecordedRow, name: &str) -> String {
    let (p, g) = (fields("p", 'f', &of.partial), fields("g", 'g', &of.given));
    let (element, wide) = (c_type(of.element), c_type(computes_in(of.element)));
    let accumulated = [p.clone(), parts("v", of.element), g.clone()].concat().join(", ");
    let merged = [p.clone(), fields("q", 'f', &of.partial)].concat().join(", ");
    let finished = [p, parts("v", of.element), g].concat().join(", ");
    let v = number("x", of.element, of.element);
    let whole = &of.name;
    format!(
        "struct {name} {{\n  typedef {element} element; typedef {wide} out; typedef {whole}_partial partial; typedef {whole}_given given;\n  \
         static CI_IN partial start(const given g) {{ return {name}_start(); }}\n  \
         static CI_IN partial accumulate(const partial p, const element x, const ci_i64 i, const given g) \
         {{ const {wide} v = {v}; return {name}_accumulate({accumulated}); }}\n  \
         static CI_IN partial merge(const partial p, const partial q, const given g) {{ return {name}_merge({merged}); }}\n  \
         static CI_IN out finish(const partial p, const ci_i64 n, const given g) \
         {{ const {wide} v = ci_cast<{wide}>((double)n); return {name}_finish({finished}); }}\n}};\n"
    )
}

/// A row function as a struct of its name, and what it calls. It has
/// - the types `element`, `number` (the compute type) and `given`, whose fields are the run-time value and the measured numbers;
/// - `passes`, their number; `pass0` and `pass1`, each a reducer as in `reduce`, with this `given` and a `number` as its result;
///   `with0(g, m)` and `with1(g, m)`, which store the number that a pass measured;
/// - `is_beyond(g)`, whether the measured numbers suggest an overflow, if that can happen (`RowSteps::GROWS`): then `large` is a reducer
///   that returns the power of two to scale the row by, `times(x, power)` a scaled element and `beside(g, power)` the `given` of the scaled
///   row;
/// - `at_00(x, g)`, an element of the result; `at_10(x, weight, g)`, `at_01(x, bias, g)` and `at_11(x, weight, bias, g)`.
///
/// The prelude must precede it.
pub(crate) fn row(of: &RecordedRow) -> String {
    let RecordedRow { name, element, given, partial, passes, .. } = of;
    let (wide, of_element) = (c_type(computes_in(*element)), c_type(*element));
    let (g, width) = (fields("g", 'g', given), partial.len());
    let mut text = structure(&format!("{name}_given"), 'g', given);
    text += &structure(&format!("{name}_partial"), 'f', partial);
    text += &library(&of.functions);
    for at in 0..*passes {
        text += &pass(of, &format!("{name}_pass{at}"));
    }
    let large = format!("{name}_large");
    if of.grows {
        text += &pass(of, &large);
    }
    let _ = write!(
        text,
        "struct {name} {{\n  typedef {of_element} element; typedef {wide} number; typedef {name}_given given;\n  \
         static const int passes = {passes};\n"
    );
    // Statements that store the number `m`, from this field on.
    let stored = |first: usize| -> String {
        let values = parts("m", *element);
        values.iter().enumerate().map(|(part, value)| format!("g.g{} = {value}; ", first + part)).collect()
    };
    for at in 0..*passes {
        let _ = writeln!(
            text,
            "  typedef {name}_pass{at} pass{at};\n  static CI_IN given with{at}(given g, const number m) {{ {}return g; }}",
            stored((1 + at) * width)
        );
    }
    if of.grows {
        let v = number("x", *element, *element);
        let by_power = |of: Vec<String>| [of, parts("power", *element)].concat().join(", ");
        let _ = write!(
            text,
            "  typedef {large} large;\n  static CI_IN bool is_beyond(const given g) {{ return {large}_is_beyond({}); }}\n  \
             static CI_IN element times(const element x, const number power) {{ const {wide} v = {v}; return ci_cast<element>({large}_times({})); }}\n  \
             static CI_IN given beside(given g, const number power) {{ const number m = {large}_beside({}); {}return g; }}\n",
            g.join(", "),
            by_power(parts("v", *element)),
            by_power(g[..width].to_vec()),
            stored(0),
        );
    }
    for [weighs, biases] in [[false, false], [true, false], [false, true], [true, true]] {
        let which = format!("{}{}", u8::from(weighs), u8::from(biases));
        let shared: Vec<&str> =
            [(weighs, "weight"), (biases, "bias")].iter().filter(|row| row.0).map(|row| row.1).collect();
        let mut values = parts("v", *element);
        let mut body = format!("const {wide} v = {};", number("x", *element, *element));
        for row in &shared {
            let _ = write!(body, " const {wide} {row}_v = {};", number(row, *element, *element));
            values.extend(parts(&format!("{row}_v"), *element));
        }
        let rows: String = shared.iter().map(|row| format!("const element {row}, ")).collect();
        let values = [values, g.clone()].concat().join(", ");
        let _ = writeln!(
            text,
            "  static CI_IN element at_{which}(const element x, {rows}const given g) \
             {{ {body} return ci_cast<element>({name}_at_{which}({values})); }}"
        );
    }
    text + "};\n"
}
