//! Sorting and searching: `sort`, `topk`, `unique`, `searchsorted`.
//! Uses the sort and search loops of the devices.

// The documentation lists methods in this order.
pub(crate) mod sort_topk;

pub(crate) mod search;
#[cfg(feature = "cuda")]
pub(crate) mod slices;
pub(crate) mod unique;
