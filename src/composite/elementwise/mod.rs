//! Operations on elements that are no rows of the tables.

pub(crate) mod frexp;
pub(crate) mod prelu;

rows_of!(frexp, prelu);
