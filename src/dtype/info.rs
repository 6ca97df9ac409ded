//! `finfo` and `iinfo`: the limits of the numeric dtypes, with PyTorch's fields.
//!
//! Source: `tests/oracle/dtypes.json`. Computed from the parameters of the formats.

use super::shell::*;
use super::table::types_of;
use super::{DType, Element};

/// The limits of a floating-point dtype (`torch.finfo`). All values are exact in `f64`.
///
/// ```
/// use castiron::DType;
/// let info = DType::F16.finfo().unwrap();
/// assert_eq!((info.max, info.eps), (65504.0, 0.0009765625));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// Bits of one component.
    pub bits: u32,
    /// The difference between 1 and the next larger value.
    pub eps: f64,
    /// The largest finite value.
    pub max: f64,
    /// The smallest finite value.
    pub min: f64,
    /// The smallest positive normal value.
    pub smallest_normal: f64,
    /// The approximate decimal resolution: 10 to the power of minus the number of reliable decimal digits.
    pub resolution: f64,
    /// The dtype of the limits: the component's for a complex dtype.
    pub dtype: DType,
}

impl FloatInfo {
    /// PyTorch's other name for [`smallest_normal`](FloatInfo::smallest_normal).
    pub const fn tiny(&self) -> f64 {
        self.smallest_normal
    }
}

/// The limits of an integer dtype (`torch.iinfo`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntInfo {
    /// Bits of one element.
    pub bits: u32,
    /// The largest value.
    pub max: i128,
    /// The smallest value.
    pub min: i128,
    /// The dtype of the limits.
    pub dtype: DType,
}

/// 2 to the `n`, for `n` in the range of normal doubles.
const fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// The limits of an 8-bit float, which its format gives.
macro_rules! float8 {
    ($($ty:ty),*) => {
        const fn float8(dtype: DType) -> Option<(i32, i32, i32, i32)> {
            $(
                if dtype as u8 == <$ty as Element>::DTYPE as u8 {
                    return Some(<$ty>::LIMITS);
                }
            )*
            None
        }
    };
}
types_of!(float8s float8);

pub(super) const fn finfo(dtype: DType) -> Option<FloatInfo> {
    let dtype = dtype.to_real();
    // Mantissa bits, exponent of the smallest normal value, exponent of the largest value, number of the largest significands that are NaN,
    // and the decimal resolution.
    let (mantissa, low, high, taken, resolution) = match dtype {
        DType::F16 => (10, -14, 15, 0, 1e-3),
        DType::BF16 => (7, -126, 127, 0, 1e-2),
        DType::F32 => (23, -126, 127, 0, 1e-6),
        DType::F64 => (52, -1022, 1023, 0, 1e-15),
        _ => match float8(dtype) {
            Some((mantissa, low, high, taken)) => (mantissa, low, high, taken, 1.0),
            None => return None,
        },
    };
    let ulp = power_of_two(-mantissa);
    let max = (2.0 - ulp * (1 + taken) as f64) * power_of_two(high);
    let smallest_normal = power_of_two(low);
    let (min, eps) = match dtype {
        DType::F8E8M0FNU => (smallest_normal, 1.0),
        // PyTorch's own figure: half of the true spacing at 1.
        DType::F8E5M2FNUZ => (-max, 0.125),
        _ => (-max, ulp),
    };
    let bits = dtype.itemsize() as u32 * 8;
    Some(FloatInfo { bits, eps, max, min, smallest_normal, resolution, dtype })
}

pub(super) const fn iinfo(dtype: DType) -> Option<IntInfo> {
    if !matches!(dtype.category(), super::Category::Integral) {
        return None;
    }
    let bits = dtype.itemsize() as u32 * 8;
    let (min, max) = if dtype.is_signed() {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    Some(IntInfo { bits, max, min, dtype })
}
