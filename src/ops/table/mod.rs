//! The tables of elementwise operations. Each row: the operation, the dtypes it admits, its result dtype, its documentation, and its
//! special properties; in front of the row, `castiron_macros::named!` puts the names of its methods.
//!
//! The rules that the columns name are in `ops::rules`. A reader matches the columns it needs, from the left, and skips the rest with
//! `$($rest:tt)*`.

mod binary;
mod tuned;
mod unary;

pub(crate) use binary::binary_table;
pub(crate) use tuned::tuned_table;
pub(crate) use unary::unary_table;
