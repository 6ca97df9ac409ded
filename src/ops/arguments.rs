//! What operations that are no kernel are described by: indices along an axis, an order, what a product is added to, what is looked for.
//!
//! Uses dtypes and views; used by the devices, which run these operations, and by `tensor` and `any`, which ask for them.

use crate::dtype::{Castable, Dtype};
use crate::storage::View;

/// Elements chosen by indices along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Indexing {
    /// The operation, for errors.
    pub op: &'static str,
    /// The axis.
    pub axis: usize,
    /// Whether negative indices count from the end.
    pub wraps: bool,
}

/// Elements chosen by rank along an axis. NaN is larger than every number; of equals the first comes first.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// All of them.
    Sort {
        /// From the largest to the smallest.
        descending: bool,
    },
    /// The `k` largest or smallest.
    Top {
        /// How many.
        k: usize,
        /// From the largest down, not from the smallest up.
        largest: bool,
    },
    /// The one with `k` smaller ones.
    Kth {
        /// How many are smaller.
        k: usize,
    },
    /// The one in the middle, the lower one of two.
    Median {
        /// Whether NaN does not count; otherwise one NaN is the median.
        ignores_nan: bool,
    },
    /// The most frequent one, the smallest of several, where it comes last.
    Mode,
}

impl Order {
    /// How many elements are chosen of a lane of `len`.
    pub fn len(self, len: usize) -> usize {
        match self {
            Order::Sort { .. } => len,
            Order::Top { k, .. } => k,
            Order::Kth { .. } | Order::Median { .. } | Order::Mode => 1,
        }
    }

    /// Whether a lane of `len` has what is asked for.
    pub fn admits(self, len: usize) -> bool {
        match self {
            Order::Sort { .. } => true,
            Order::Top { k, .. } => k <= len,
            Order::Kth { k } => k < len,
            Order::Median { .. } | Order::Mode => len > 0,
        }
    }

    /// Whether the largest comes first.
    pub fn is_descending(self) -> bool {
        matches!(self, Order::Sort { descending: true } | Order::Top { largest: true, .. })
    }
}

/// What a product is added to, and by which factors: `beta * input + alpha * product`. A factor of 0 leaves its operand out.
pub struct Added<'a, B, E: Dtype> {
    /// Broadcast to the sizes of the product; none where `beta` is 0.
    pub input: Option<View<'a, B, E>>,
    /// What the input is multiplied by.
    pub beta: E::Compute,
    /// What the product is multiplied by.
    pub alpha: E::Compute,
}

/// What is looked for among elements before an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// An element that is zero.
    Zero,
    /// A byte that is no bool: neither 0 nor 1.
    NoBool,
}
impl Sought {
    /// Whether an element is one.
    #[inline(always)]
    pub(crate) fn is<E: Castable>(self, element: E) -> bool {
        match self {
            Sought::Zero => !element.cast::<bool>(),
            Sought::NoBool => element.cast::<i64>() > 1,
        }
    }
}
