//! Operations on each element by itself: methods and operators written from the tables of `ops`, comparison, `where_`, `clamp`, `lerp`.
//! `apply` runs them (broadcast, promotion, device dispatch); the other files are the public forms.

// Documentation lists methods in this order.
pub(crate) mod operators;

pub(crate) mod methods;

pub(crate) mod apply;
pub(crate) mod compare;
pub(crate) mod complex;
pub(crate) mod isclose;
pub(crate) mod lerp;
pub(crate) mod output;
pub(crate) mod parametric;
pub(crate) mod reuse_operand;
pub(crate) mod scalar_first;
pub mod shell_dtypes;
pub(crate) mod view_in_place;
pub(crate) mod where_clamp;
