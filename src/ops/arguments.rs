//! Arguments of operations beyond kernels: an index along an axis, the order of a sort, the input of a product, the elements that a check
//! looks for.

use crate::dtype::{Castable, Dtype};
use crate::storage::View;
use crate::{
    dtype::DType,
    ops::record::kernel::{Kernel, Value},
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
        /// The number of elements.
        k: usize,
        /// The largest instead of the smallest.
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
    /// The most frequent element (the smallest one in a tie), with its last position.
    Mode,
}

impl Order {
    /// Number of elements selected from a lane of `len`.
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

/// The distribution that random elements are drawn from.
#[derive(Clone, Copy, Debug)]
pub enum Distribution {
    /// The uniform distribution on `low..high`.
    Uniform {
        /// The lower bound, included.
        low: f64,
        /// The upper bound, excluded.
        high: f64,
    },
    /// The normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// The uniform distribution on the integers `low..high`.
    Integers {
        /// The lower bound, included.
        low: i64,
        /// The upper bound, excluded.
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
    /// The queries.
    pub query: View<'a, B, E>,
    /// The keys.
    pub key: View<'a, B, E>,
    /// The values, which are averaged with the weights.
    pub value: View<'a, B, E>,
    /// The mask, broadcast to `(…, L, S)`.
    pub mask: Option<Mask<'a, B, E>>,
    /// Whether later keys are hidden from a query.
    pub is_causal: bool,
    /// The factor of the scores.
    pub scale: f64,
}

/// Which keys a query sees: PyTorch's `attn_mask`.
pub enum Mask<'a, B, E: Dtype> {
    /// A query sees the keys where it is true.
    Seen(View<'a, B, bool>),
    /// A query sees every key; these are added to the scores.
    Added(View<'a, B, E>),
}

/// A check of elements before an operation runs: what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A zero.
    Zero,
    /// A byte that is neither 0 nor 1.
    NoBool,
    /// An index out of range for an axis of this size, counted from either end.
    Outside(usize),
    /// A number outside `0..=1`.
    NoShare,
    /// Positive infinity.
    Infinity,
}
impl Sought {
    /// Whether an element matches.
    #[inline(always)]
    pub(crate) fn is<E: Castable>(self, element: E) -> bool {
        match self {
            Sought::Zero => !element.cast::<bool>(),
            Sought::NoBool => element.cast::<i64>() > 1,
            Sought::NoShare => !(0.0..=1.0).contains(&element.cast::<f64>()),
            Sought::Infinity => element.cast::<f64>() > f64::MAX,
            Sought::Outside(size) => {
                // Indices fit `i64`.
                let (index, size) = (element.cast::<i64>(), i64::try_from(size).unwrap_or(i64::MAX));
                index >= size || index < -size
            }
        }
    }
    /// `is` as GPU text; the sought value is a parameter.
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
