//! Sorting and searching: `sort`, `topk`, `unique`, `searchsorted`.
//! Uses the sort and search loops of the devices.

pub(crate) mod search;
pub(crate) mod sort_topk;
pub(crate) mod unique;
