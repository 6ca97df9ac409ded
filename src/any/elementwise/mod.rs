//! Operations on each element by itself: dtypes, devices and shapes are checked at run time, then the loop of the table runs.

pub(crate) mod apply;
pub(crate) mod binary;
pub(crate) mod chained;
pub(crate) mod formula;
pub(crate) mod isclose;
pub(crate) mod lerp;
pub(crate) mod op_table;
pub(crate) mod operators;
pub(crate) mod parametric;
pub(crate) mod polynomials;
pub(crate) mod scaled;
pub(crate) mod where_;

rows_of!(isclose, lerp, operators, parametric[ACTIVATIONS OPERATIONS], polynomials, scaled, where_);
