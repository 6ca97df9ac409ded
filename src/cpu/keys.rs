//! Sort keys: unsigned integers with the order of the elements, and packed keys, which also hold the element's
//! position.
//!
//! NaN is larger than every number; all NaNs are equal, as are the two zeros.

use crate::dtype::{bf16, f16};
use core::ops::BitXor;
use num_traits::AsPrimitive;

/// An element with a total order.
pub(super) trait Keyed: Copy + PartialEq + Send + Sync {
    /// An integer of the element's size.
    type Key: Copy + Ord + BitXor<Output = Self::Key> + AsPrimitive<Self::Packed>;
    /// A key packed with its position, for lanes of up to 2^32 elements.
    type Packed: Packed + AsPrimitive<Self::Key>;
    /// All bits set: the mask that reverses the order, and the key of NaN.
    const ALL: Self::Key;
    /// No bits set.
    const NONE: Self::Key;
    /// Whether the dtype has NaN.
    const HAS_NAN: bool = false;
    /// Whether the dtype has few enough values for counting sort. (With the 256 of a byte, the destinations compete for the cache, and
    /// radix sort is faster.)
    const FEW_VALUES: bool = false;
    /// The key.
    fn key(self) -> Self::Key;
    /// The element with this key; `None` for keys that several elements share.
    fn from_key(key: Self::Key) -> Option<Self>;
    /// The key, xor-ed with `flip` (which may reverse the order), packed with the position.
    #[inline(always)]
    fn packed(self, flip: Self::Key, position: usize) -> Self::Packed {
        Self::Packed::pack((self.key() ^ flip).as_(), position)
    }
}

/// A key and a position, ordered by key, then position.
pub(super) trait Packed: Copy + Ord + Send + Sync + 'static {
    fn pack(key: Self, position: usize) -> Self;
    fn key(self) -> Self;
    fn position(self) -> usize;
    /// Byte `at` of the key, counted from the lowest.
    fn digit(self, at: usize) -> usize;
}

macro_rules! packed {
    ($($packed:ident of $half:literal $position:ident;)*) => {$(
        impl Packed for $packed {
            #[inline(always)]
            fn pack(key: Self, position: usize) -> Self {
                key << $half | position as Self
            }
            #[inline(always)]
            fn key(self) -> Self {
                self >> $half
            }
            #[inline(always)]
            fn position(self) -> usize {
                self as $position as usize
            }
            #[inline(always)]
            fn digit(self, at: usize) -> usize {
                (self >> ($half + 8 * at)) as u8 as usize
            }
        }
    )*};
}
packed! {
    u64 of 32 u32;
    u128 of 64 u64;
}

/// Integers: the sign bit is inverted, so that negative numbers come first.
macro_rules! integers {
    ($($ty:ty: $key:ty, $packed:ty, $sign:expr;)*) => {$(
        impl Keyed for $ty {
            type Key = $key;
            type Packed = $packed;
            const ALL: $key = <$key>::MAX;
            const NONE: $key = 0;
            #[inline(always)]
            fn key(self) -> $key {
                self as $key ^ $sign
            }
            #[inline(always)]
            fn from_key(key: $key) -> Option<Self> {
                Some((key ^ $sign) as $ty)
            }
        }
    )*};
}
integers! {
    u8: u8, u64, 0;
    i8: u8, u64, 1 << 7;
    i16: u16, u64, 1 << 15;
    i32: u32, u64, 1 << 31;
    i64: u64, u128, 1 << 63;
}
impl Keyed for bool {
    const FEW_VALUES: bool = true;
    type Key = u8;
    type Packed = u64;
    const ALL: u8 = u8::MAX;
    const NONE: u8 = 0;
    #[inline(always)]
    fn key(self) -> u8 {
        self.into()
    }
    #[inline(always)]
    fn from_key(key: u8) -> Option<Self> {
        Some(key != 0)
    }
}

/// Floats: positive ones get the sign bit, negative ones have all bits inverted.
macro_rules! floats {
    ($($ty:ty: $key:ty, $signed:ty, $packed:ty, $infinity:expr;)*) => {$(
        impl Keyed for $ty {
            type Key = $key;
            type Packed = $packed;
            const ALL: $key = <$key>::MAX;
            const NONE: $key = 0;
            const HAS_NAN: bool = true;
            #[inline(always)]
            fn key(self) -> $key {
                const SIGN: $key = 1 << (<$key>::BITS - 1);
                let bits = self.to_bits();
                let magnitude = bits & !SIGN;
                let key = bits ^ ((bits as $signed >> (<$key>::BITS - 1)) as $key | SIGN);
                let key = if magnitude == 0 { SIGN } else { key };
                if magnitude > $infinity { <$key>::MAX } else { key }
            }
            #[inline(always)]
            fn from_key(key: $key) -> Option<Self> {
                const SIGN: $key = 1 << (<$key>::BITS - 1);
                let bits = key ^ (!(key as $signed >> (<$key>::BITS - 1)) as $key | SIGN);
                if key == SIGN || key == <$key>::MAX { None } else { Some(<$ty>::from_bits(bits)) }
            }
        }
    )*};
}
floats! {
    f16: u16, i16, u64, f16::INFINITY.to_bits();
    bf16: u16, i16, u64, bf16::INFINITY.to_bits();
    f32: u32, i32, u64, f32::INFINITY.to_bits();
    f64: u64, i64, u128, f64::INFINITY.to_bits();
}

/// The loop of a dtype, if the dtype is ordered.
macro_rules! of_ordered_dtype {
    ($dtype:expr, $T:ident => $loop:expr; $($variant:ident $ty:ty),*) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $ty;
                Some($loop)
            })*
            _ => None,
        }
    };
    ($dtype:expr, $T:ident => $loop:expr) => {
        $crate::cpu::keys::of_ordered_dtype!($dtype, $T => $loop; Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64,
            F16 $crate::dtype::f16, BF16 $crate::dtype::bf16, F32 f32, F64 f64)
    };
}
pub(super) use of_ordered_dtype;

/// `loop_by_dtype!(fn name -> Loop: T => loop::<T>)`: a function generic over an ordered element type that returns the loop for its dtype
/// as a function pointer. The loop is compiled in the program that uses it; with the feature `precompiled` here, for all dtypes.
macro_rules! loop_by_dtype {
    ($(#[$doc:meta])* fn $name:ident -> $Loop:ty: $T:ident => $loop:expr) => {
        $(#[$doc])*
        fn $name<E: $crate::dtype::Element>() -> $Loop {
            #[cfg(feature = "precompiled")]
            let found = {
                fn of_dtype(dtype: DType) -> Option<$Loop> {
                    $crate::cpu::keys::of_ordered_dtype!(dtype, $T => $loop)
                }
                of_dtype(E::DTYPE)
            };
            #[cfg(not(feature = "precompiled"))]
            let found: Option<$Loop> = const { $crate::cpu::keys::of_ordered_dtype!(E::DTYPE, $T => $loop) };
            found.unwrap_or_else(|| unreachable!("this dtype has no order; the bounds of every sort refuse it"))
        }
    };
}
pub(super) use loop_by_dtype;

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order<T: Keyed + core::fmt::Debug>(elements: &[T]) {
        for pair in elements.windows(2) {
            assert!(pair[0].key() < pair[1].key(), "{pair:?}");
        }
        for &element in elements {
            assert!(T::from_key(element.key()).is_none_or(|back| back == element));
        }
    }

    #[test]
    fn keys_are_in_the_order_of_elements() {
        in_order(&[false, true]);
        in_order(&[i8::MIN, -1, 0, 1, i8::MAX]);
        in_order(&[i64::MIN, -1, 0, 1, i64::MAX]);
        in_order(&[
            f32::NEG_INFINITY,
            f32::MIN,
            -1.0,
            -f32::MIN_POSITIVE,
            -1e-45,
            0.0,
            1e-45,
            1.0,
            f32::INFINITY,
            f32::NAN,
        ]);
        in_order(&[f64::NEG_INFINITY, -1.5, 0.0, 5e-324, f64::MAX, f64::INFINITY, f64::NAN]);
        in_order(&[f16::NEG_INFINITY, f16::NEG_ONE, f16::ZERO, f16::ONE, f16::INFINITY, f16::NAN]);
        in_order(&[bf16::NEG_INFINITY, bf16::NEG_ONE, bf16::ZERO, bf16::ONE, bf16::INFINITY, bf16::NAN]);
    }

    #[test]
    fn equals_have_one_key() {
        assert_eq!((-0.0_f32).key(), 0.0_f32.key());
        assert_eq!((-f64::NAN).key(), f64::NAN.key());
        assert_eq!(f32::from_key(0.0_f32.key()), None);
    }
}
