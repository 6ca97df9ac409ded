//! `Difference`: what a checkpoint has and a module has not, or the other way round.

use core::fmt;

/// One difference between a checkpoint and the module that is loaded from it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// The checkpoint lacks a tensor.
    Missing {
        /// Its name.
        name: String,
        /// Dtype and shape of the field.
        expected: String,
    },
    /// The checkpoint has a tensor that no field takes.
    Unexpected {
        /// Its name.
        name: String,
    },
    /// A tensor has another dtype or shape.
    Mismatch {
        /// Its name.
        name: String,
        /// Dtype and shape of the field.
        expected: String,
        /// Those of the checkpoint.
        found: String,
    },
    /// One named dimension has two sizes.
    Size {
        /// The tensor's name.
        name: String,
        /// The dimension's name.
        dimension: &'static str,
        /// Its size in this tensor.
        size: usize,
        /// Its size in another one.
        other_size: usize,
        /// The other one's name.
        other: String,
    },
    /// Fields are tied, and the checkpoint has different elements for them.
    Untied {
        /// The tensor's name.
        name: String,
        /// The name of the one that it is tied to.
        target: String,
    },
    /// Something else that a module made by hand has noted.
    Other {
        /// The name.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

impl Difference {
    /// The name of the tensor that it is about.
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

    /// Whether it is only that a tensor is on one side and not on the other.
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
