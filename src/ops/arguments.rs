//! Arguments of operations that are more than a kernel: an index along an axis, an order to select by, the input of a
//! product, what to look for.
//!
//! Uses dtypes and views; used by the devices, which run these operations, and by `tensor` and `any`, which ask for
//! them.

use crate::dtype::{Castable, Dtype};
use crate::storage::View;
#[cfg(any(test, feature = "cuda"))]
use crate::{
    dtype::DType,
    ops::text::kernel::{Kernel, Value},
};

/// Access by indices along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Indexing {
    /// The operation's name, for errors.
    pub op: &'static str,
    /// The indexed axis.
    pub axis: usize,
    /// Whether negative indices count from the end.
    pub wraps: bool,
}

/// Selection by rank along an axis. NaN is larger than every number; equal elements keep their order.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Every element, sorted.
    Sort {
        /// Largest first.
        descending: bool,
    },
    /// The `k` largest or smallest.
    Top {
        /// How many.
        k: usize,
        /// The largest, not the smallest.
        largest: bool,
    },
    /// The element of rank `k`, counted from 0.
    Kth {
        /// The rank.
        k: usize,
    },
    /// The middle element, the lower of two.
    Median {
        /// Whether NaN is ignored; otherwise it is the median if there is one.
        ignores_nan: bool,
    },
    /// The most frequent element (the smallest of several), at its last position.
    Mode,
}

impl Order {
    /// How many elements are selected from a lane of `len`.
    pub fn len(self, len: usize) -> usize {
        match self {
            Order::Sort { .. } => len,
            Order::Top { k, .. } => k,
            Order::Kth { .. } | Order::Median { .. } | Order::Mode => 1,
        }
    }

    /// Whether a lane of `len` has enough elements.
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

/// What elements are drawn from.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "cuda"), allow(dead_code))] // the host draws by closures
pub enum Distribution {
    /// From `low` up to `high`, all numbers equally likely.
    Uniform {
        /// The first of them.
        low: f64,
        /// Behind the last.
        high: f64,
    },
    /// The normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// The integers from `low` up to but not including `high`, all equally likely.
    Integers {
        /// The first of them.
        low: i64,
        /// Behind the last.
        high: i64,
    },
}

/// The input of a product and the factors: `beta * input + alpha * product`. A factor of 0 ignores its operand.
pub struct Added<'a, B, E: Dtype> {
    /// Broadcast to the sizes of the product; `None` where `beta` is 0.
    pub input: Option<View<'a, B, E>>,
    /// The factor of the input.
    pub beta: E::Compute,
    /// The factor of the product.
    pub alpha: E::Compute,
}

/// Scaled dot-product attention: queries `(…, L, E)`, keys `(…, S, E)` and values `(…, S, V)`, with the same leading sizes.
pub struct Attention<'a, B, E: Dtype> {
    /// What is looked for.
    pub query: View<'a, B, E>,
    /// What it is compared with.
    pub key: View<'a, B, E>,
    /// What is averaged.
    pub value: View<'a, B, E>,
    /// Of `(…, L, S)`.
    pub mask: Option<Mask<'a, B, E>>,
    /// Whether a query sees no keys that come after it.
    pub is_causal: bool,
    /// The factor of the scores.
    pub scale: f64,
}

/// Which keys a query sees.
pub enum Mask<'a, B, E: Dtype> {
    /// Those that are true.
    Seen(View<'a, B, bool>),
    /// All; to their scores these are added.
    Added(View<'a, B, E>),
}

/// A check of elements before an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A zero.
    Zero,
    /// A byte that is neither 0 nor 1.
    NoBool,
    /// An index that is none of an axis of this size, counted from either end.
    Outside(usize),
    /// A number that is not between 0 and 1.
    NoShare,
    /// Positive infinity.
    Infinity,
}
impl Sought {
    /// Whether an element is what is looked for.
    #[inline(always)]
    pub(crate) fn is<E: Castable>(self, element: E) -> bool {
        match self {
            Sought::Zero => !element.cast::<bool>(),
            Sought::NoBool => element.cast::<i64>() > 1,
            Sought::NoShare => !(0.0..=1.0).contains(&element.cast::<f64>()),
            Sought::Infinity => element.cast::<f64>() > f64::MAX,
            Sought::Outside(size) => {
                // No index is beyond `i64`.
                let (index, size) = (element.cast::<i64>(), i64::try_from(size).unwrap_or(i64::MAX));
                index >= size || index < -size
            }
        }
    }
    /// `is` as text; what is looked for is a parameter.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn text(self, kernel: &mut Kernel, element: Value) -> Value {
        let which = [Sought::Zero, Sought::NoBool, Sought::NoShare, Sought::Infinity];
        let [zero, no_bool, no_share, infinity] = which.map(|which| kernel.parameter(self == which));
        let size = if let Sought::Outside(size) = self { i64::try_from(size).unwrap_or(i64::MAX) } else { i64::MAX };
        let size = kernel.parameter(size);
        let truth = kernel.cast(element, DType::Bool);
        let is_zero = kernel.not(truth);
        let (index, number) = (kernel.cast(element, DType::I64), kernel.cast(element, DType::F64));
        let (one, none, whole) =
            (kernel.constant(1.0, DType::I64), kernel.constant(0.0, DType::F64), kernel.constant(1.0, DType::F64));
        let above_one = kernel.infix(index, ">", one, DType::Bool);
        let (from, to) =
            (kernel.infix(number, ">=", none, DType::Bool), kernel.infix(number, "<=", whole, DType::Bool));
        let is_share = kernel.infix(from, "&&", to, DType::Bool);
        let is_no_share = kernel.not(is_share);
        let most = kernel.constant(f64::MAX, DType::F64);
        let is_infinity = kernel.infix(number, ">", most, DType::Bool);
        let least = kernel.prelude("neg", &[size], DType::I64);
        let (over, under) =
            (kernel.infix(index, ">=", size, DType::Bool), kernel.infix(index, "<", least, DType::Bool));
        let outside = kernel.infix(over, "||", under, DType::Bool);
        let found = kernel.choose(no_share, is_no_share, outside);
        let found = kernel.choose(infinity, is_infinity, found);
        let found = kernel.choose(no_bool, above_one, found);
        kernel.choose(zero, is_zero, found)
    }
}
