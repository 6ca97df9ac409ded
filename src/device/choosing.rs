//! What a device is asked for when elements are chosen by indices or by rank.

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
    pub fn turned(self) -> bool {
        matches!(self, Order::Sort { descending: true } | Order::Top { largest: true, .. })
    }
}
