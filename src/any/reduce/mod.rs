//! Reductions of all elements or along axes; and what only `AnyTensor` has of statistics and normalisation: operands of several dtypes,
//! rows by name.

mod few;
pub(crate) mod histogram;
pub(crate) mod normalize;
pub(crate) mod norms;
pub(crate) mod quantile;
pub(crate) mod reductions;
pub(crate) mod statistics;

rows_of!(histogram, normalize, norms, quantile, reductions[OPERATIONS REDUCTIONS], statistics);
