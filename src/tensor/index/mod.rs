//! Elements selected by index tensors and masks: gather, scatter, masked operations, `index_put`.

// Documentation lists methods in this order.
pub(crate) mod gather;

pub(crate) mod accumulate;
pub(crate) mod embedding_bag;
pub(crate) mod index_put;
pub(crate) mod masked;
pub(crate) mod scatter;
pub(crate) mod scatter_reduce;
