//! Reductions of all elements or along axes; and statistics and normalisation that only `AnyTensor` has: operands of several dtypes,
//! operations by name.

mod few;
pub(crate) mod histogram;
pub(crate) mod normalize;
pub(crate) mod norms;
pub(crate) mod quantile;
pub(crate) mod reductions;
pub(crate) mod statistics;

rows_of!(histogram, normalize, norms, quantile, reductions[OPERATIONS REDUCTIONS], statistics);
