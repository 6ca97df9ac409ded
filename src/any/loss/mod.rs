//! Losses: what only `AnyTensor` takes.

pub(crate) mod classes;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod operands;

rows_of!(ctc, distances);
