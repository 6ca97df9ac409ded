//! `Difference`: a mismatch between a checkpoint and a module.

use core::fmt;

/// A difference between a checkpoint and the module loaded from it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// A tensor is missing in the checkpoint.
    Missing {
        /// Its name.
        name: String,
        /// Dtype and shape of the field.
        expected: String,
    },
    /// A tensor in the checkpoint belongs to no field.
    Unexpected {
        /// Its name.
        name: String,
    },
    /// A tensor has a different dtype or shape.
    Mismatch {
        /// Its name.
        name: String,
        /// Dtype and shape of the field.
        expected: String,
        /// Dtype and shape in the checkpoint.
        found: String,
    },
    /// A named dimension has two different sizes.
    Size {
        /// The tensor's name.
        name: String,
        /// The dimension's name.
        dimension: &'static str,
        /// Its size in this tensor.
        size: usize,
        /// Its size in the other tensor.
        other_size: usize,
        /// The other tensor's name.
        other: String,
    },
    /// Tied fields have different elements in the checkpoint.
    Untied {
        /// The tensor's name.
        name: String,
        /// The name of the tensor that it is tied to.
        target: String,
    },
    /// Another difference, noted by a hand-written module.
    Other {
        /// The name.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

impl Difference {
    /// The name of the tensor.
    pub fn name(&self) -> &str {
        match self {
            Difference::Missing { name, .. }
            | Difference::Unexpected { name }
            | Difference::Mismatch { name, .. }
            | Difference::Size { name, .. }
            | Difference::Untied { name, .. }
            | Difference::Other { name, .. } => name,
        }
    }

    /// Whether the only difference is that a tensor is missing on one side.
    pub(super) fn is_of_names(&self) -> bool {
        matches!(self, Difference::Missing { .. } | Difference::Unexpected { .. })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Missing { name, expected } => write!(f, "{name}: missing (expected {expected})"),
            Difference::Unexpected { name } => write!(f, "{name}: nothing takes it"),
            Difference::Mismatch { name, expected, found } => write!(f, "{name}: expected {expected}, found {found}"),
            Difference::Size { name, dimension, size, other_size, other } => {
                write!(f, "{name}: `{dimension}` is {size} here and {other_size} in {other}")
            }
            Difference::Untied { name, target } => {
                write!(f, "{name}: tied to {target}, and the elements of the two differ")
            }
            Difference::Other { name, reason } => write!(f, "{name}: {reason}"),
        }
    }
}
