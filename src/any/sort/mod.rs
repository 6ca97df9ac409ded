//! Sorting and searching by name, and of operands whose dtypes promote.

pub(crate) mod median;
pub(crate) mod search;
pub(crate) mod unique;

rows_of!(median, search, unique);
