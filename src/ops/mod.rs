//! What an operation is: its name, its formula per category, the dtypes it admits and the dtype of its result.
//!
//! One table (`table`) lists the operations; the formulas stand in `unary`, `binary` and `tuned` (one operand and
//! parameters). A new elementwise operation is one row and one formula; methods, in-place forms, `_into` forms and documentation follow.
//!
//! This room knows dtypes and nothing of shapes, devices or tensors; devices run what it describes.

pub(crate) mod rules;
pub use rules::admit;
mod binary;
pub mod blend;
pub mod choosing;
pub mod close;
mod complex;
#[cfg(any(test, feature = "cuda"))]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) mod dual;
pub(crate) mod expression;
mod extreme;
pub(crate) mod kernel;
pub(crate) mod measure;
pub mod reduce;
pub mod stretch;
pub(crate) mod table;
// The text is what a CUDA device compiles; until there is one, tests alone use it.
#[cfg(any(test, feature = "cuda"))]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) mod text;
mod tuned;
mod unary;

pub use binary::*;
// Their names stand in the types of lazy expressions, which messages show; what they do is not to be had.
pub use close::isclose;
#[doc(hidden)]
pub use kernel::{Applying, Casting, Choosing, CombiningKinds, CombiningLeft, CombiningScalar, DividingScalar};
pub use tuned::*;
pub use unary::*;

/// Operations are a closed set: loops compiled for the rows of the tables are chosen by what an operation says of itself.
pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made an operation: those of `castiron::ops` are all there are",
        label = "this trait is castiron's alone",
        note = "compute with tensors, or in one pass with `fused!`"
    )]
    pub trait Op {}
}

/// An operation: a type without values that names it in messages and errors.
pub trait Op: sealed::Op + Copy + Default + Send + Sync + 'static {
    /// PyTorch's name.
    const NAME: &'static str;
}
