//! The parts of losses that only `AnyTensor` has.

pub(crate) mod classes;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod operands;

rows_of!(ctc, distances);
