//! What an operation is: its name, its formula per category, the dtypes it admits and the dtype of its result.
//!
//! One table (`table`) lists the operations; the formulas stand in `unary`, `binary` and `tuned` (one operand and
//! parameters). A new elementwise operation is one row and one formula; methods, in-place forms, `_into` forms and documentation follow.
//!
//! This room knows dtypes and nothing of shapes, devices or tensors; devices run what it describes.

pub(crate) mod rules;
pub use rules::admit;
pub mod arguments;
pub mod choosing;
#[cfg(any(test, feature = "cuda"))]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) mod dual;
mod elementwise;
pub mod reduce;
pub mod segment;
pub(crate) mod table;
// The text is what a CUDA device compiles; until there is one, tests alone use it.
#[cfg(any(test, feature = "cuda"))]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) mod text;

pub use elementwise::isclose;
pub use elementwise::{binary::*, tuned::*, unary::*};
pub use elementwise::{close, pointwise};
pub(crate) use elementwise::{expression, kernel};
// Compiler messages show these names, in the types of lazy expressions.
#[doc(hidden)]
pub use elementwise::kernel::{
    Applying, Casting, Choosing, CombiningKinds, CombiningLeft, CombiningScalar, DividingScalar,
};

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
