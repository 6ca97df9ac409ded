//! Reductions of all elements or along axes, statistics and normalisation.
//! Uses `tensor::reduce`, on tensors reshaped to three axes.

mod few;
pub(crate) mod histogram;
pub(crate) mod normalize;
pub(crate) mod norms;
pub(crate) mod quantile;
pub(crate) mod reductions;
pub(crate) mod statistics;

rows_of!(histogram, normalize, norms, quantile, reductions[OPERATIONS REDUCTIONS], statistics);
