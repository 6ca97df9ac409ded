//! Sorting and searching.

// Documentation lists methods in this order.
pub(crate) mod order;

pub(crate) mod median;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod slices;
pub(crate) mod unique;

rows_of!(median, order, search, unique);
