//! The tables of elementwise operations. Each row: the operation, the dtypes it admits, its result dtype, its documentation, and its
//! special properties; in front of the row, `castiron_macros::named!` puts the names of its methods. A row stands in the file of its
//! formula: a new operation is one file, and the tables here are the lists of these files.
//!
//! The rules that the columns name are in `ops::rules`. A reader matches the columns it needs, from the left, and skips the rest with
//! `$($rest:tt)*`.

mod binary;
mod unary;

pub(crate) use super::elementwise::binary::{arithmetic_rows, functions_rows, logic_rows};
pub(crate) use super::elementwise::tuned::tuned_table;
pub(crate) use super::elementwise::unary::{
    activation_rows, elementary_rows, questions_rows, rounding_rows, special_rows,
};
pub(crate) use super::reduce::{extreme_rows, norms_rows, sums_rows, variance_rows};
pub(crate) use super::scan::{running_rows, softmax_lane_rows};
pub(crate) use binary::binary_table;
pub(crate) use unary::unary_table;

/// Hands the rows of several files, joined, to the macro that reads a table: `($use)` gets them as they are, `([patterns] $use)` with the
/// names of methods in front. Each file has a macro that adds its rows and goes on with the next file.
macro_rules! joined {
    (($use:ident) { $($rows:tt)* }) => { $use! { $($rows)* } };
    ((exported $name:ident) $rows:tt) => { $crate::ops::table::exported! { ($) $name $rows } };
    (($patterns:tt $use:ident) { $($rows:tt)* }) => { castiron_macros::named! { $patterns $use $($rows)* } };
    ($reader:tt $rows:tt $file:ident $($files:ident)*) => { $crate::ops::table::$file! { $reader $rows $($files)* } };
}
pub(crate) use joined;

/// Writes the rows into a macro for other crates, which calls another with them: `castiron::__unary_rows!(reader)`. They read names and
/// properties there and write methods of their own.
macro_rules! exported {
    (($dollar:tt) $name:ident { $($rows:tt)* }) => {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($dollar reader:ident) => { $dollar reader! { $($rows)* } };
        }
    };
}
pub(crate) use exported;
