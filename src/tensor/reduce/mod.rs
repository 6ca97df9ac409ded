//! Reductions of all elements or along axes: sums, extremes, variance; and the parts of `batch_norm` in training, quantiles and histograms
//! that only typed tensors have.

// Documentation lists methods in this order.
pub(crate) mod reductions;

pub(crate) mod channels;
pub(crate) mod quantile;

pub(crate) mod histogram;
pub(crate) mod own;
pub(crate) mod var_mean;
