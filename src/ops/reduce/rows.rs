//! The steps of a function of a row, over numbers of any kind: passes that measure the row, then each element.
//!
//! Uses the formulas; used by the kernels of rows (`normalize`, `softmax`) and by `ops::text`.

#[cfg(any(test, feature = "cuda"))]
use super::{Accumulating, ExtremeOfTwo};
use crate::dtype::Compute;

/// How a pass puts the terms of a row together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pass {
    /// Their sum.
    Sum,
    /// The largest; NaN if there is one.
    Largest,
}
#[cfg(any(test, feature = "cuda"))]
impl Pass {
    /// Before the first term.
    pub(crate) fn start<C: Compute>(self) -> C {
        match self {
            Pass::Sum => C::default(),
            Pass::Largest => C::default().unary::<ExtremeOfTwo<true>>(),
        }
    }
    /// Two totals as one, or a total and a term.
    pub(crate) fn merge<C: Compute>(self, one: C, other: C) -> C {
        match self {
            Pass::Sum => one.binary::<Accumulating>(other),
            Pass::Largest => one.binary::<ExtremeOfTwo<true>>(other),
        }
    }
}

/// The steps of a function of a row.
pub(crate) trait RowSteps: Copy + Send + Sync + 'static {
    /// The passes, at most two. Each measures one number, which those after it and the elements are given.
    const PASSES: &'static [Pass];
    /// What an element counts in a pass.
    fn term<C: Compute>(self, pass: usize, element: C, measured: [C; 2]) -> C;
    /// What a pass measures, of the total of so many terms; with the run-time value.
    fn measured<C: Compute>(self, pass: usize, total: C, count: C, given: C) -> C;
    /// An element of the result, with those of the shared rows.
    fn element<C: Compute>(self, measured: [C; 2], element: C, shared: [Option<C>; 2]) -> C;
}
