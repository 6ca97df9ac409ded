//! Sorting and searching: `sort`, `topk`, `unique`, `searchsorted`.
//! Uses the sort and search loops of the devices.

// First what readers of the documentation look for first.
pub(crate) mod sort_topk;

pub(crate) mod search;
pub(crate) mod unique;
