//! The operations that are called by name and take more than the tables say: a row each, beside the methods they call.

mod create;
mod elementwise;
mod lerp;
mod linalg;
mod normalize;
mod parametric;
mod reduce;
mod statistics;

use super::NamedOp;

/// All of them, by subject.
pub(super) const NAMED: &[&[NamedOp]] = &[
    elementwise::OPS,
    crate::any::view::views::OPERATIONS,
    crate::any::view::split::OPERATIONS,
    crate::any::view::reinterpret::OPERATIONS,
    crate::any::base::conjugate_bit::OPERATIONS,
    crate::any::OPERATIONS,
    parametric::OPS,
    create::OPS,
    reduce::OPS,
    crate::any::scan::cumulative::OPERATIONS,
    crate::any::sort::sort_topk::OPERATIONS,
    crate::any::sort::unique::OPERATIONS,
    crate::any::sort::search::OPERATIONS,
    crate::any::reduce::median::OPERATIONS,
    crate::any::reduce::quantile::OPERATIONS,
    statistics::OPS,
    normalize::OPS,
    crate::any::join::cat_stack::OPERATIONS,
    crate::any::rearrange::flip_roll::OPERATIONS,
    crate::any::rearrange::pad::OPERATIONS,
    crate::any::rearrange::repeat::OPERATIONS,
    crate::any::view::diagonal::OPERATIONS,
    crate::any::base::fill::OPERATIONS,
    crate::any::index::view_scatter::OPERATIONS,
    crate::any::index::advanced::OPERATIONS,
    crate::any::index::gather::OPERATIONS,
    crate::any::index::masked::OPERATIONS,
    crate::any::index::scatter::OPERATIONS,
    crate::any::elementwise::where_::OPERATIONS,
    linalg::OPS,
    lerp::OPS,
];

/// For `"add"("input", "other", "alpha") "all computing dtypes" { in_place(Elements) output(Castable) } => |args| …` it writes the row.
/// The braces hold the columns that differ from the defaults: see [`Forms`](super::Forms).
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
