//! Recorded row functions: the passes that measure the row, each a reducer, and the function of an element.

use super::graph::{Function, Kind, Unreadable};
use super::number::{Operand, Recorded};
use super::numbers::{Fields, over_numbers};
use super::reduce::{Record, given_bytes, step};
use super::rows::suffix;
use crate::dtype::{Complex, Compute, DType, Element};
use crate::ops::reduce::rows::{LargestPart, Pass, PowerOfRow, RowSteps, TimesPower, beside_powers};
use crate::ops::reduce::{Accumulating, ExtremeOfTwo};

/// A recorded row function. Its functions are the name followed by
/// - `_pass0` and `_pass1`, each with the steps of a reducer (`_start`, `_accumulate`, `_merge`, `_finish`), whose result is a number;
/// - `_large`, a reducer that gives the power of two to scale a row by, and `_large_is_beyond`, `_large_times` and `_large_beside`, if the
///   measured numbers can overflow (`RowSteps::GROWS`);
/// - `_at_00`, `_at_10`, `_at_01` and `_at_11`, an element of the result without and with an element of the first and of the second shared
///   row.
#[derive(Clone, Debug)]
pub struct RecordedRow {
    /// The name, made of the function and the dtype.
    pub name: String,
    /// The dtype of elements and of the result.
    pub element: DType,
    /// The run-time value and the measured numbers.
    pub given: Vec<Kind>,
    /// The numbers of an accumulator, the same in all passes.
    pub partial: Vec<Kind>,
    /// Number of passes.
    pub passes: usize,
    /// Whether there is `_large`.
    pub grows: bool,
    /// The recorded functions.
    pub(super) functions: Vec<Function>,
}
impl RecordedRow {
    /// Records these steps for elements `E`.
    pub(crate) fn of<E: Element, S: RowSteps>(name: &str, steps: S) -> Record<RecordedRow> {
        let name = format!("ci_row_{name}_{}", suffix(E::DTYPE));
        over_numbers!(E::DTYPE, record_of::<S, _>(steps, &name, E::DTYPE))
    }
    /// The numbers `given` with this run-time value, if there is one, and without measured numbers.
    pub(crate) fn given_bytes(&self, values: &[f64]) -> Vec<u8> {
        let all: Vec<f64> = values.iter().copied().chain([0.0; 6]).take(self.given.len()).collect();
        given_bytes(&self.given, &all)
    }
}

impl Pass {
    /// The initial value.
    pub(crate) fn start<C: Compute>(self) -> C {
        match self {
            Pass::Sum => C::default(),
            Pass::Largest => C::default().unary::<ExtremeOfTwo<true>>(),
        }
    }
    /// Combines two totals, or a total and a term.
    pub(crate) fn merge<C: Compute>(self, one: C, other: C) -> C {
        match self {
            Pass::Sum => one.binary::<Accumulating>(other),
            Pass::Largest => one.binary::<ExtremeOfTwo<true>>(other),
        }
    }
}

/// The run-time value and the measured numbers.
fn given<C: Operand>(at: &mut usize) -> (C, [C; 2]) {
    (C::next(at), Fields::next(at))
}

fn record_of<S: RowSteps, C: Compute + Operand>(steps: S, name: &str, element: DType) -> Record<RecordedRow> {
    let (numbers, given_kinds) = (C::KINDS.to_vec(), C::KINDS.repeat(3));
    let mut functions = Vec::new();
    let partial = format!("{name}_partial");
    let two = [numbers.clone(), numbers.clone()];
    let three = [numbers.clone(), numbers.clone(), given_kinds.clone()];
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
        functions.extend([start, accumulate, merge, finish]);
    }
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
        functions.extend([start, accumulate, merge, finish]);
        let is_beyond = step(format!("{name}_is_beyond"), std::slice::from_ref(&given_kinds), None, |at| {
            steps.is_beyond::<C>(given(at).1)
        })?;
        let times = step(format!("{name}_times"), &two, None, |at| C::next(at).binary::<TimesPower>(C::next(at)))?;
        let beside = step(format!("{name}_beside"), &two, None, |at| beside_powers::<C>(C::next(at), C::next(at)))?;
        functions.extend([is_beyond, times, beside]);
    }
    for [weighs, biases] in [[false, false], [true, false], [false, true], [true, true]] {
        let which = format!("{}{}", u8::from(weighs), u8::from(biases));
        let shared = usize::from(weighs) + usize::from(biases);
        let kinds = [numbers.repeat(1 + shared), given_kinds.clone()];
        functions.push(step(format!("{name}_at_{which}"), &kinds, None, |at| {
            let x = C::next(at);
            let rows = [weighs, biases].map(|is_there| is_there.then(|| C::next(at)));
            steps.element(given(at).1, x, rows)
        })?);
    }

    Ok(RecordedRow {
        name: name.into(),
        element,
        given: given_kinds,
        partial: numbers,
        passes: S::PASSES.len(),
        grows: S::GROWS,
        functions,
    })
}
