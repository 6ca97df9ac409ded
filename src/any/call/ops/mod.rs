//! The operations that are called by name and take more than the tables say: a row each, beside the methods they call.

mod index;
mod join;
mod rearrange;
mod sort;
mod view;

use super::NamedOp;

/// All of them, by subject.
pub(super) const NAMED: &[&[NamedOp]] = &[
    view::OPS,
    sort::OPS,
    join::OPS,
    rearrange::OPS,
    index::OPS,
    crate::any::base::convert::OPERATIONS,
    crate::any::base::convert::CONVERSIONS,
    crate::any::base::fill::OPERATIONS,
    crate::any::create::by_name::OPERATIONS,
    crate::any::create::by_name::ZEROS,
    crate::any::create::by_name::ONES,
    crate::any::create::by_name::EMPTY,
    crate::any::elementwise::isclose::OPERATIONS,
    crate::any::elementwise::lerp::OPERATIONS,
    crate::any::elementwise::operators::OPERATIONS,
    crate::any::elementwise::parametric::OPERATIONS,
    crate::any::elementwise::parametric::ACTIVATIONS,
    crate::any::elementwise::scaled::OPERATIONS,
    crate::any::linalg::distance::OPERATIONS,
    crate::any::linalg::einsum::OPERATIONS,
    crate::any::linalg::linear::OPERATIONS,
    crate::any::linalg::matmul::OPERATIONS,
    crate::any::linalg::matrix_power::OPERATIONS,
    crate::any::linalg::tensordot::OPERATIONS,
    crate::any::reduce::normalize::OPERATIONS,
    crate::any::reduce::statistics::OPERATIONS,
    crate::any::scan::cumulative::OPERATIONS,
    crate::any::scan::cumulative::SCANS,
    crate::any::scan::trapezoid::OPERATIONS,
    crate::any::reduce::norms::OPERATIONS,
    crate::any::reduce::reductions::OPERATIONS,
    crate::any::reduce::reductions::REDUCTIONS,
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
