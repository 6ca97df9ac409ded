//! Sorting and searching.
//! Uses `tensor::sort`, on tensors reshaped to three axes.

pub(crate) mod search;
pub(crate) mod sort_topk;
pub(crate) mod unique;

rows_of!(search, sort_topk, unique);
