//! Row functions as text: the passes that measure the row, each a reducer, and the function of an element.

use super::graph::{Function, Kind, Unreadable};
use super::kernel::c_type;
use super::number::{Operand, Recorded};
use super::numbers::{Fields, over_numbers};
use super::reduce::{Written, fields, given_bytes, number, parts, step, structure};
use super::rows::{computes_in, suffix};
use super::write::library;
use crate::dtype::{Complex, Compute, DType, Element};
use crate::ops::reduce::rows::{LargestPart, PowerOfRow, RowSteps, TimesPower, beside_powers};
use std::fmt::Write as _;

/// A row function as text: a C++ struct with
/// - the types `element`, `number` (the compute type) and `given`, whose fields are the run-time value and the measured numbers;
/// - `passes`, their number; `pass0` and `pass1`, each a reducer as in `ReducerText`, with this `given` and a `number` as its result;
///   `with0(g, m)` and `with1(g, m)`, which store the number that a pass measured;
/// - `is_beyond(g)`, whether the measured numbers suggest an overflow, if that can happen (`RowSteps::GROWS`): then `large` is a reducer
///   that returns the power of two to scale the row by, `times(x, power)` a scaled element and `beside(g, power)` the `given` of the scaled
///   row;
/// - `at_00(x, g)`, an element of the result; `at_10(x, weight, g)`, `at_01(x, bias, g)` and `at_11(x, weight, bias, g)`.
///
/// The prelude must precede it.
#[derive(Clone, Debug)]
pub struct RowText {
    /// The name of the struct, made of the function and the dtype.
    pub name: String,
    /// The dtype of elements and of the result.
    pub element: DType,
    /// The numbers of `given`.
    pub given: Vec<Kind>,
    /// The numbers of an accumulator, the same in all passes.
    pub partial: Vec<Kind>,
    /// Number of passes.
    pub passes: usize,
    /// Whether there is `is_beyond`.
    pub grows: bool,
    /// The struct and what it calls.
    pub library: String,
    /// The recorded functions.
    pub(super) functions: Vec<Function>,
}
impl RowText {
    /// The text of these steps for elements `E`.
    pub(crate) fn of<E: Element, S: RowSteps>(name: &str, steps: S) -> Written<RowText> {
        let name = format!("ci_row_{name}_{}", suffix(E::DTYPE));
        over_numbers!(E::DTYPE, text_of::<S, _>(steps, &name, E::DTYPE))
    }
    /// The struct `given` with this run-time value, if there is one, and without measured numbers.
    pub(crate) fn given_bytes(&self, values: &[f64]) -> Vec<u8> {
        let all: Vec<f64> = values.iter().copied().chain([0.0; 6]).take(self.given.len()).collect();
        given_bytes(&self.given, &all)
    }
}

/// The run-time value and the measured numbers.
fn given<C: Operand>(at: &mut usize) -> (C, [C; 2]) {
    (C::next(at), Fields::next(at))
}

fn text_of<S: RowSteps, C: Compute + Operand>(steps: S, name: &str, element: DType) -> Written<RowText> {
    let (numbers, given_kinds) = (C::KINDS.to_vec(), C::KINDS.repeat(3));
    let (wide, of_element) = (c_type(computes_in(element)), c_type(element));
    let g = fields("g", 'g', &given_kinds);
    let mut functions = Vec::new();
    let mut structs = String::new();
    let partial = format!("{name}_partial");
    let two = [numbers.clone(), numbers.clone()];
    let three = [numbers.clone(), numbers.clone(), given_kinds.clone()];
    // A reducer made of these four steps.
    let mut reducer = |name: &str, [start, accumulate, merge, finish]: [Function; 4]| {
        let p = fields("p", 'f', &numbers);
        let accumulated = [p.clone(), parts("v", element), g.clone()].concat().join(", ");
        let merged = [p.clone(), fields("q", 'f', &numbers)].concat().join(", ");
        let finished = [p, parts("v", element), g.clone()].concat().join(", ");
        let v = number("x", element, element);
        let _ = write!(
            structs,
            "struct {name} {{\n  typedef {of_element} element; typedef {wide} out; typedef {partial} partial; typedef given_of_row given;\n  \
             static CI_IN partial start(const given g) {{ return {}(); }}\n  \
             static CI_IN partial accumulate(const partial p, const element x, const ci_i64 i, const given g) \
             {{ const {wide} v = {v}; return {}({accumulated}); }}\n  \
             static CI_IN partial merge(const partial p, const partial q, const given g) {{ return {}({merged}); }}\n  \
             static CI_IN out finish(const partial p, const ci_i64 n, const given g) \
             {{ const {wide} v = ci_cast<{wide}>((double)n); return {}({finished}); }}\n}};\n",
            start.name, accumulate.name, merge.name, finish.name
        );
        functions.extend([start, accumulate, merge, finish]);
    };
    for (pass, &how) in S::PASSES.iter().enumerate() {
        let name = format!("{name}_pass{pass}");
        let start = step(format!("{name}_start"), &[], Some(&partial), |_| how.start::<C>())?;
        let accumulate = step(format!("{name}_accumulate"), &three, Some(&partial), |at| {
            let (total, x) = (C::next(at), C::next(at));
            how.merge(total, steps.term(pass, x, given(at).1))
        })?;
        let merge = step(format!("{name}_merge"), &two, Some(&partial), |at| {
            how.merge::<C>(Fields::next(at), Fields::next(at))
        })?;
        let finish = step(format!("{name}_finish"), &three, None, |at| {
            let (total, count) = (C::next(at), C::next(at));
            steps.measured(pass, total, count, given(at).0)
        })?;
        reducer(&name, [start, accumulate, merge, finish]);
    }
    let mut beyond = String::new();
    if S::GROWS {
        let name = format!("{name}_large");
        let start = step(format!("{name}_start"), &[], Some(&partial), |_| C::default())?;
        let accumulate = step(format!("{name}_accumulate"), &three, Some(&partial), |at| {
            let (total, x) = (C::next(at), C::next(at));
            total.binary::<LargestPart>(x.unary::<LargestPart>())
        })?;
        let merge =
            step(format!("{name}_merge"), &two, Some(&partial), |at| C::next(at).binary::<LargestPart>(C::next(at)))?;
        let finish = step(format!("{name}_finish"), &three, None, |at| C::next(at).unary::<PowerOfRow>())?;
        reducer(&name, [start, accumulate, merge, finish]);
        let is_beyond = step(format!("{name}_is_beyond"), std::slice::from_ref(&given_kinds), None, |at| {
            steps.is_beyond::<C>(given(at).1)
        })?;
        let times = step(format!("{name}_times"), &two, None, |at| C::next(at).binary::<TimesPower>(C::next(at)))?;
        let beside = step(format!("{name}_beside"), &two, None, |at| beside_powers::<C>(C::next(at), C::next(at)))?;
        let v = number("x", element, element);
        let by_power = |of: Vec<String>| [of, parts("power", element)].concat().join(", ");
        let set: String =
            (parts("m", element).iter().enumerate()).map(|(part, value)| format!("g.g{part} = {value}; ")).collect();
        beyond = format!(
            "  typedef {name} large;\n  static CI_IN bool is_beyond(const given g) {{ return {}({}); }}\n  \
             static CI_IN element times(const element x, const number power) {{ const {wide} v = {v}; return ci_cast<element>({}({})); }}\n  \
             static CI_IN given beside(given g, const number power) {{ const number m = {}({}); {set}return g; }}\n",
            is_beyond.name,
            g.join(", "),
            times.name,
            by_power(parts("v", element)),
            beside.name,
            by_power(g[..numbers.len()].to_vec()),
        );
        functions.extend([is_beyond, times, beside]);
    }
    structs = structs.replace("given_of_row", &format!("{name}_given"));

    let _ = write!(
        structs,
        "struct {name} {{\n  typedef {of_element} element; typedef {wide} number; typedef {name}_given given;\n  \
         static const int passes = {};\n",
        S::PASSES.len()
    );
    for pass in 0..S::PASSES.len() {
        let set: String = parts("m", element)
            .iter()
            .enumerate()
            .map(|(part, value)| format!("g.g{} = {value}; ", (1 + pass) * numbers.len() + part))
            .collect();
        let _ = writeln!(
            structs,
            "  typedef {name}_pass{pass} pass{pass};\n  static CI_IN given with{pass}(given g, const number m) {{ {set}return g; }}"
        );
    }
    structs += &beyond;
    for [weighs, biases] in [[false, false], [true, false], [false, true], [true, true]] {
        let which = format!("{}{}", u8::from(weighs), u8::from(biases));
        let shared: Vec<&str> =
            [(weighs, "weight"), (biases, "bias")].iter().filter(|row| row.0).map(|row| row.1).collect();
        let kinds = [numbers.repeat(1 + shared.len()), given_kinds.clone()];
        let function = step(format!("{name}_at_{which}"), &kinds, None, |at| {
            let x = C::next(at);
            let rows = [weighs, biases].map(|is_there| is_there.then(|| C::next(at)));
            steps.element(given(at).1, x, rows)
        })?;
        let mut values = parts("v", element);
        let mut body = format!("const {wide} v = {};", number("x", element, element));
        for row in &shared {
            let _ = write!(body, " const {wide} {row}_v = {};", number(row, element, element));
            values.extend(parts(&format!("{row}_v"), element));
        }
        let rows: String = shared.iter().map(|row| format!("const element {row}, ")).collect();
        let values = [values, g.clone()].concat().join(", ");
        let _ = writeln!(
            structs,
            "  static CI_IN element at_{which}(const element x, {rows}const given g) \
             {{ {body} return ci_cast<element>({}({values})); }}",
            function.name
        );
        functions.push(function);
    }
    structs += "};\n";

    let mut text = structure(&format!("{name}_given"), 'g', &given_kinds);
    text += &structure(&partial, 'f', &numbers);
    text += &library(&functions);
    text += &structs;
    Ok(RowText {
        name: name.into(),
        element,
        given: given_kinds,
        partial: numbers,
        passes: S::PASSES.len(),
        grows: S::GROWS,
        library: text,
        functions,
    })
}
