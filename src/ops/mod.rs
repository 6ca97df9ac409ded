//! What an operation is: its name, its formula per category, the dtypes it admits and the dtype of its result.
//!
//! One table (`table`) lists the operations; the formulas stand in `unary`, `binary` and `tuned` (one operand and
//! parameters). A new elementwise operation is one row and one formula; methods, in-place forms, `_into` forms and documentation follow.
//!
//! This room knows dtypes and nothing of shapes, devices or tensors; devices run what it describes.

pub mod admit;
mod binary;
pub mod blend;
pub mod choosing;
pub mod close;
mod complex;
pub mod expression;
mod extreme;
pub mod kernel;
pub mod measure;
pub mod reduce;
pub mod stretch;
pub(crate) mod table;
mod tuned;
mod unary;

pub use binary::*;
pub use close::isclose;
pub use tuned::*;
pub use unary::*;

/// An operation: a type without values that names it in messages and errors.
pub trait Op: Copy + Default + Send + Sync + 'static {
    /// PyTorch's name.
    const NAME: &'static str;
}
