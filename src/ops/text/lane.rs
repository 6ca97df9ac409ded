//! Functions of a lane as text: scans and row functions.

use super::graph::{Function, Kind, Unreadable};
use super::kernel::c_type;
use super::number::{Operand, Recorded};
use super::numbers::{Fields, Position, over_numbers};
use super::reduce::{Written, fields, number, parts, step, struct_size, structure};
use super::row::RowText;
use super::rows::{computes_in, suffix};
use super::write::library;
use crate::dtype::{Complex, Compute, DType, Element};
use crate::ops::scan::steps::LaneSteps;
use crate::ops::scan::{RunningExtreme, RunningLogSumExp, RunningProduct, RunningSum};
use std::cell::Cell;
use std::fmt::Write as _;

/// A function of a lane as text.
#[derive(Clone, Debug)]
pub enum LaneText {
    /// A scan.
    Scan(ScanText),
    /// A row function: the lane is the row.
    Row(RowText),
}

/// A scan as text: a C++ struct with
/// - the types `element`, `out`, `partial` (the value of a segment of the lane), and `second_out` if it has two results;
/// - `has_start`, and `start()`, the initial value if it has one; the functions `of(x, index)`, a segment of one element, `merge(p, q)`, a
///   segment and the one after it, `emit(p)`, the result at the end of a segment that begins with the lane (and with `start`), and
///   `second(p)`.
///
/// `merge` is associative up to rounding. Indices are `ci_i64`. The prelude must precede it.
#[derive(Clone, Debug)]
pub struct ScanText {
    /// The name of the struct, made of the scan and the dtype.
    pub name: String,
    /// The dtype of the elements; a second result is a position.
    pub element: DType,
    /// The dtype of the result.
    pub out: DType,
    /// Whether there is a second result, a position in `i64`.
    pub has_positions: bool,
    /// Whether there is an initial value.
    pub has_start: bool,
    /// The numbers that make up `partial`.
    pub partial: Vec<Kind>,
    /// The struct and what it calls.
    pub library: String,
    /// The recorded functions.
    pub(super) functions: Vec<Function>,
}
impl ScanText {
    /// The bytes of a `partial`.
    pub(crate) fn partial_size(&self) -> usize {
        struct_size(&self.partial)
    }
}

/// The description of a scan besides its steps.
pub(crate) struct Scan {
    name: String,
    element: DType,
    out: DType,
    computes: DType,
    has_positions: bool,
}
impl Scan {
    /// A scan of elements `E`, converted to `O` and then to the compute dtype, with results `O`.
    pub(crate) fn of<E: Element, O: Element>(name: &str, computes: DType) -> Scan {
        let name = format!("ci_scan_{name}_{}", suffix(E::DTYPE));
        Scan { name, element: E::DTYPE, out: O::DTYPE, computes, has_positions: false }
    }
    /// The second number is a position, and a result.
    pub(crate) fn with_positions(self) -> Scan {
        Scan { has_positions: true, ..self }
    }
    /// The text of these steps.
    pub(crate) fn read<S: Readable>(self, steps: S) -> Written<ScanText> {
        steps.text(&self)
    }
}

/// Steps that support every number type.
pub(crate) trait Readable: LaneSteps {
    fn text(self, scan: &Scan) -> Written<ScanText>;
}
macro_rules! readable {
    ($($steps:ty $([$($generics:tt)*])?),*) => {$(
        impl $(<$($generics)*>)? Readable for $steps {
            fn text(self, scan: &Scan) -> Written<ScanText> {
                over_numbers!(scan.computes, text_of::<Self, _>(self, scan))
            }
        }
    )*};
}
readable! { RunningSum, RunningProduct, RunningLogSumExp, RunningExtreme<MAX> [const MAX: bool] }

fn text_of<S: LaneSteps, C: Compute + Operand>(steps: S, scan: &Scan) -> Written<ScanText>
where
    S::Partial<C, Position>: Fields,
{
    let Scan { name, element, out, computes, has_positions } = scan;
    let (partial, kinds) = (format!("{name}_partial"), <S::Partial<C, Position>>::kinds());
    type P<S, C> = <S as LaneSteps>::Partial<C, Position>;
    let mut functions = Vec::new();
    let has_start = Cell::new(false);
    let start = step(format!("{name}_start"), &[], Some(&partial), |_| {
        let start = steps.start::<C, Position>();
        has_start.set(start.is_some());
        start.unwrap_or_else(|| steps.of(C::default(), Position::from(false)))
    })?;
    let has_start = has_start.get();
    if has_start {
        functions.push(start);
    }
    functions.push(step(format!("{name}_of"), &[C::KINDS.to_vec(), Position::kinds()], Some(&partial), |at| {
        steps.of::<C, Position>(C::next(at), Position::next(at))
    })?);
    functions.push(step(format!("{name}_merge"), &[kinds.clone(), kinds.clone()], Some(&partial), |at| {
        let (earlier, later) = (P::<S, C>::next(at), P::<S, C>::next(at));
        steps.merge::<C, Position>(earlier, later)
    })?);

    let mut text = structure(&partial, 'f', &kinds) + &library(&functions);
    let wide = c_type(computes_in(*computes));
    let _ = writeln!(
        text,
        "struct {name} {{\n  typedef {} element; typedef {} out; typedef {partial} partial;\n  \
         static const bool has_start = {has_start};",
        c_type(*element),
        c_type(*out)
    );
    if has_start {
        let _ = writeln!(text, "  static CI_IN partial start() {{ return {name}_start(); }}");
    }
    let as_result = number("x", *element, *out);
    let narrow = if element == out { "x".into() } else { format!("ci_cast<{}>(x)", c_type(*out)) };
    let v = if computes == out { as_result } else { format!("ci_cast<{wide}>({narrow})") };
    let of = [parts("v", *computes), vec!["i".into()]].concat().join(", ");
    let merge = [fields("p", 'f', &kinds), fields("q", 'f', &kinds)].concat().join(", ");
    let _ = writeln!(
        text,
        "  static CI_IN partial of(const element x, const ci_i64 i) {{ const {wide} v = {v}; return {name}_of({of}); }}\n  \
         static CI_IN partial merge(const partial p, const partial q) {{ return {name}_merge({merge}); }}"
    );
    let first = if computes.is_complex() { format!("{wide}{{p.f0, p.f1}}") } else { "p.f0".into() };
    let _ = writeln!(text, "  static CI_IN out emit(const partial p) {{ return ci_cast<out>({first}); }}");
    if *has_positions {
        let last = kinds.len() - 1;
        let _ = writeln!(
            text,
            "  typedef ci_i64 second_out;\n  static CI_IN second_out second(const partial p) {{ return p.f{last}; }}"
        );
    }
    text += "};\n";
    Ok(ScanText {
        name: name.clone(),
        element: *element,
        out: *out,
        has_positions: *has_positions,
        has_start,
        partial: kinds,
        library: text,
        functions,
    })
}
