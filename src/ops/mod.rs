//! What an operation is: its name, its formula for each category of dtypes, the dtypes it admits and the dtype of its
//! result.
//!
//! The tables (`table`) list the elementwise operations, `rules` their rules, `elementwise` their formulas and
//! kernels; `reduce`, `scan`, `choosing`, `segment` and `arguments` describe the others. A new elementwise operation is a row
//! and a formula; methods, in-place forms, `_into` forms and documentation follow from them.
//!
//! Depends on dtypes and views, not on shapes, devices or tensors; devices run what is described here.

// (First, so that compiler messages list these operations before the others.)
mod elementwise;

pub(crate) mod rules;
pub use rules::admit;
#[doc(hidden)]
pub mod arguments;
pub mod choosing;
#[cfg(feature = "linalg")]
pub mod decompose;
pub(crate) mod dual;
pub mod formula;
#[doc(hidden)]
pub mod grid;
pub(crate) mod kinds;
pub mod lanes;
pub mod losses;
pub mod number;
#[cfg(not(any(test, feature = "cuda")))]
#[path = "record/absent.rs"]
pub(crate) mod record;
#[cfg(any(test, feature = "cuda"))]
// What only tests call, or only a device of a feature that is off.
#[cfg_attr(not(all(test, unix, feature = "cuda", feature = "any")), allow(dead_code, unused_imports))]
pub(crate) mod record;
pub mod reduce;
#[doc(hidden)]
pub mod resample;
mod results;
pub mod scan;
#[doc(hidden)]
pub mod segment;
pub(crate) mod slope;
pub(crate) mod table;
#[cfg(feature = "grad")]
pub(crate) mod update;
#[doc(hidden)]
pub mod window;

pub use elementwise::{allclose, isclose};
pub use elementwise::{binary::*, tuned::*, unary::*};
pub use elementwise::{close, pointwise};
pub(crate) use elementwise::{expression, kernel};
// Public names, because compiler messages show them in the types of lazy expressions.
#[doc(hidden)]
pub use elementwise::kernel::{
    Applying, Casting, Choosing, CombiningKinds, CombiningLeft, CombiningScalar, DividingScalar,
};

/// Operations are a closed set, because compiled loops are looked up by the constants of their markers.
pub(crate) mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made an operation: those of `castiron::ops` are all there are",
        label = "this trait is castiron's alone",
        note = "compute with tensors, or in one pass with `fused!`"
    )]
    pub trait Op {}
}

/// An operation: a zero-sized marker type that names it in messages and errors.
pub trait Op: sealed::Op + Copy + Default + Send + Sync + 'static {
    /// PyTorch's name.
    const NAME: &'static str;
}
