//! Positions of elements, and vectors turned by theirs.

pub(crate) mod nonzero;
pub(crate) mod rope;

rows_of!(nonzero, rope);
