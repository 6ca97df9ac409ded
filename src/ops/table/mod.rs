//! The tables of elementwise operations. Each row: the operation, which dtypes it admits, how the dtype of its result follows, its
//! documentation, and what is special about it; in front of the row `castiron_macros::named!` puts the names of its methods.
//!
//! The rules that the columns name stand in `ops::rules`. Read by `ops` (the markers), `tensor` and `any` (the methods), `cpu` (the
//! loops) and the tests; a reader takes the columns it needs, from the left, and leaves the rest: `$($rest:tt)*`.

mod binary;
mod tuned;
mod unary;

pub(crate) use binary::binary_table;
pub(crate) use tuned::tuned_table;
pub(crate) use unary::unary_table;
