//! The methods that formulas call on integers, recorded. Arithmetic wraps.

use super::floats::selected;
use super::graph::{Family, Id, Machine};
use super::number::{Recorded, recorded, row_name};
use super::paths::{ask, row};
use crate::dtype::numbers::{MachineBits, MachineElement, MachineNumber, MachineReal, by_category};
use crate::dtype::{Binary, MachineInt, ToReal, Unary};
use core::cmp::Ordering;
use core::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};
use num_traits::{
    Bounded, CheckedAdd, CheckedDiv, CheckedMul, CheckedSub, PrimInt, Saturating, WrappingAdd, WrappingMul,
    WrappingNeg, WrappingSub,
};

/// Methods that no formula uses: they are noted, and the recording fails.
macro_rules! refuses {
    ($($method:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        fn $method(self $(, $argument: $ty)*) -> $result {
            $(let _ = $argument;)*
            ask(stringify!($method));
            Default::default()
        }
    )*};
}
macro_rules! checked {
    ($ty:ident: $($trait:ident $method:ident)*) => {$(
        impl $trait for Recorded<$ty> {
            fn $method(&self, _: &Self) -> Option<Self> {
                ask(stringify!($method));
                None
            }
        }
    )*};
}
macro_rules! bitwise {
    ($ty:ident: $($trait:ident $method:ident $name:literal)*) => {$(
        impl $trait for Recorded<$ty> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                recorded!(Basic $name, $ty: self, other => <$ty>::$method)
            }
        }
    )*};
}
macro_rules! wrapping {
    ($ty:ident: $($trait:ident $method:ident $sign:tt)*) => {$(
        impl $trait for Recorded<$ty> {
            fn $method(&self, other: &Self) -> Self {
                *self $sign *other
            }
        }
    )*};
}
macro_rules! shifts {
    ($ty:ident: $($trait:ident $method:ident)*) => {$(
        impl $trait<usize> for Recorded<$ty> {
            type Output = Self;
            fn $method(self, _: usize) -> Self {
                ask(stringify!($method));
                self
            }
        }
    )*};
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Eq for Recorded<$ty> {}
        impl Ord for Recorded<$ty> {
            fn cmp(&self, other: &Self) -> Ordering {
                self.partial_cmp(other).unwrap_or(Ordering::Equal)
            }
            fn max(self, other: Self) -> Self {
                if other < self { self } else { other }
            }
            fn min(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
        }
        impl Bounded for Recorded<$ty> {
            fn min_value() -> Self {
                Self::constant(<$ty>::MIN)
            }
            fn max_value() -> Self {
                Self::constant(<$ty>::MAX)
            }
        }
        impl Not for Recorded<$ty> {
            type Output = Self;
            fn not(self) -> Self {
                recorded!(Basic "not", $ty: self => |x| !x)
            }
        }
        bitwise! { $ty: BitAnd bitand "and" BitOr bitor "or" BitXor bitxor "xor" }
        wrapping! { $ty: WrappingAdd wrapping_add + WrappingSub wrapping_sub - WrappingMul wrapping_mul * }
        impl WrappingNeg for Recorded<$ty> {
            fn wrapping_neg(&self) -> Self {
                recorded!(Operator "-", $ty: self => <$ty>::wrapping_neg)
            }
        }
        checked! { $ty: CheckedAdd checked_add CheckedSub checked_sub CheckedMul checked_mul CheckedDiv checked_div }
        shifts! { $ty: Shl shl Shr shr }
        impl Saturating for Recorded<$ty> {
            refuses! {
                saturating_add(_other: Self) -> Self;
                saturating_sub(_other: Self) -> Self;
            }
        }
        impl PrimInt for Recorded<$ty> {
            refuses! {
                count_ones() -> u32;
                count_zeros() -> u32;
                leading_zeros() -> u32;
                trailing_zeros() -> u32;
                rotate_left(_by: u32) -> Self;
                rotate_right(_by: u32) -> Self;
                signed_shl(_by: u32) -> Self;
                signed_shr(_by: u32) -> Self;
                unsigned_shl(_by: u32) -> Self;
                unsigned_shr(_by: u32) -> Self;
                pow(_exponent: u32) -> Self;
                swap_bytes() -> Self;
                to_be() -> Self;
                to_le() -> Self;
            }
            fn from_be(x: Self) -> Self {
                x.swap_bytes()
            }
            fn from_le(x: Self) -> Self {
                x.swap_bytes()
            }
        }
        impl MachineElement for Recorded<$ty> {
            type Truth = Recorded<bool>;
            fn by_unary<F: Unary>(self) -> Self {
                let results = row(&row_name::<F>("", stringify!($ty)), <$ty>::KIND, &[self.id], 1, &|x: &[Id]| {
                    vec![F::integer(Self::at(x[0])).id]
                });
                Self::at(results[0])
            }
            fn by_binary<F: Binary>(self, other: Self) -> Self {
                let results = row(&row_name::<F>("", stringify!($ty)), <$ty>::KIND, &[self.id, other.id], 1, &|x: &[Id]| {
                    vec![F::integer(Self::at(x[0]), Self::at(x[1])).id]
                });
                Self::at(results[0])
            }
            by_category! { @called of_integers }
            fn unit() -> Self {
                Self::constant(1)
            }
            fn same(self, other: Self) -> Recorded<bool> {
                recorded!(Operator "==", $ty: self, other => |a, b| a == b, -> bool)
            }
            fn select(truth: Recorded<bool>, yes: Self, no: Self) -> Self {
                selected(truth, yes, no)
            }
        }
        impl MachineBits for Recorded<$ty> {}
        impl MachineNumber for Recorded<$ty> {
            fn whole(value: i64) -> Self {
                Self::constant(value as $ty)
            }
            fn by_real<F: ToReal>(self) -> Self {
                let results = row(&row_name::<F>("", stringify!($ty)), <$ty>::KIND, &[self.id], 1, &|x: &[Id]| {
                    vec![F::integer(Self::at(x[0])).id]
                });
                Self::at(results[0])
            }
        }
        impl MachineReal for Recorded<$ty> {
            fn less(self, other: Self) -> Recorded<bool> {
                recorded!(Operator "<", $ty: self, other => |a, b| a < b, -> bool)
            }
        }
        impl MachineInt for Recorded<$ty> {
            const BITS: u32 = <$ty>::BITS;
            const SIGNED: bool = <$ty as MachineInt>::SIGNED;
            fn divided(self, divisor: Self) -> (Self, Self) {
                let quotient = self / divisor;
                (quotient, self - quotient * divisor)
            }
            fn wrapping_remainder(self, divisor: Self) -> Self {
                recorded!(Basic "remainder", $ty: self, divisor => MachineInt::wrapping_remainder)
            }
            fn shift_left(self, amount: Self) -> Self {
                recorded!(Basic "shift_left", $ty: self, amount => MachineInt::shift_left)
            }
            fn shift_right(self, amount: Self) -> Self {
                recorded!(Basic "shift_right", $ty: self, amount => MachineInt::shift_right)
            }
            fn wrapping_power(self, exponent: Self) -> Self {
                recorded!(Basic "power", $ty: self, exponent => MachineInt::wrapping_power)
            }
            fn greatest_divisor(self, other: Self) -> Self {
                recorded!(Basic "greatest_divisor", $ty: self, other => MachineInt::greatest_divisor)
            }
        }
    )*};
}
integers! { u8 i8 i16 i32 i64 }
