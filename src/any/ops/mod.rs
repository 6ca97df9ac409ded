//! The operations that are called by name and take more than the tables say: a row each, beside the methods they call.

mod arithmetic;
mod blend;
mod choosing;
mod create;
mod joining;
mod moving;
mod normalize;
mod order;
mod products;
mod reduce;
mod scan;
mod statistics;
mod tuned;
mod views;

use super::call::NamedOp;

/// All of them, by subject.
pub(super) const NAMED: &[&[NamedOp]] = &[
    arithmetic::OPS,
    views::OPS,
    tuned::OPS,
    create::OPS,
    reduce::OPS,
    scan::OPS,
    order::OPS,
    statistics::OPS,
    normalize::OPS,
    joining::OPS,
    moving::OPS,
    choosing::OPS,
    products::OPS,
    blend::OPS,
];

/// For `"add"("input", "other", "alpha") "all computing dtypes" { in_place(Elements) output(Castable) } => |args| …` it writes the row.
/// In the braces stand the columns that it has beside the default ones: see [`Forms`](super::call::Forms).
macro_rules! named {
    ($($(#[$doc:meta])* $name:literal ($($argument:literal),*) $dtypes:literal $({ $($column:ident($value:expr))* })? => $run:expr;)*) => {{
        #[allow(unused_imports)]
        use $crate::any::call::{Forms, InPlace::*, NamedOp, Output::*, Run};
        const ROWS: &[NamedOp] = &[$(NamedOp {
            name: $name,
            arguments: &[$($argument),*],
            dtypes: $dtypes,
            run: Run::Bound($run),
            forms: Forms::NEW $($(.$column($value))*)?,
        }),*];
        ROWS
    }};
}
use named;
