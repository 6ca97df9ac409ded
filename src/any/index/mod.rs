//! Elements selected by index tensors and masks: `x[…]`, gather, scatter, masked operations, `index_put`.

pub(crate) mod advanced;
pub(crate) mod embedding_bag;
pub(crate) mod gather;
mod indexed_axes;
pub(crate) mod masked;
pub(crate) mod masked_functions;
pub(crate) mod on_gpu;
pub(crate) mod scatter;
pub(crate) mod view_scatter;

rows_of!(advanced, embedding_bag, gather, masked, masked_functions, scatter, view_scatter);
