//! Formulas of bitwise operations, shifts, comparisons and logic.

use super::*;
use crate::dtype::{Compare, MachineFloat, MachineInt};
use num_complex::Complex;

/// The rows of comparison, logic and bits in the table of binary operations.
macro_rules! logic_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            bitwise_and { bits same scalars,
                "Bit by bit `and`.", "torch.bitwise_and",
                "tensor![6, 5]" "3" = "[2_i64, 1]", commutes, is_brief }
            bitwise_or { bits same scalars,
                "Bit by bit `or`.", "torch.bitwise_or",
                "tensor![6, 5]" "1" = "[7_i64, 5]", commutes, is_brief }
            bitwise_xor { bits same scalars,
                "Bit by bit exclusive `or`.", "torch.bitwise_xor",
                "tensor![6, 5]" "3" = "[5_i64, 6]", commutes, is_brief }
            bitwise_left_shift { integer_pair same scalars,
                "Shifted to the left; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_left_shift",
                "tensor![1, 3]" "2" = "[4_i64, 12]" }
            bitwise_right_shift { integer_pair same scalars,
                "Shifted to the right, keeping the sign; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_right_shift",
                "tensor![-8, 8]" "1" = "[-4_i64, 4]" }
            eq { any boolean shells,
                "Whether elements are equal. (`==` compares whole tensors.)", "torch.eq",
                "tensor![1, 2]" "1.0" = "[true, false]", is_brief }
            ne { any boolean shells,
                "Whether elements differ. (`!=` compares whole tensors.)", "torch.ne`, `torch.not_equal",
                "tensor![1, 2]" "1" = "[false, true]", is_brief }
            lt { ordered boolean any,
                "Whether each element is less.", "torch.lt`, `torch.less",
                "tensor![1, 2]" "2" = "[true, false]", is_brief }
            le { ordered boolean any,
                "Whether each element is less or equal.", "torch.le`, `torch.less_equal",
                "tensor![1, 3]" "2" = "[true, false]", is_brief }
            gt { ordered boolean any,
                "Whether each element is greater.", "torch.gt`, `torch.greater",
                "tensor![1, 3]" "2" = "[false, true]", is_brief }
            ge { ordered boolean any,
                "Whether each element is greater or equal.", "torch.ge`, `torch.greater_equal",
                "tensor![1, 2]" "2" = "[false, true]", is_brief }
            logical_and { any boolean tensors,
                "Whether both elements are non-zero.", "torch.logical_and",
                "tensor![0, 2]" "tensor![1, 1]" = "[false, true]" }
            logical_or { any boolean tensors,
                "Whether either element is non-zero.", "torch.logical_or",
                "tensor![0, 2]" "tensor![0, 0]" = "[false, true]" }
            logical_xor { any boolean tensors,
                "Whether exactly one element is non-zero.", "torch.logical_xor",
                "tensor![0, 2]" "tensor![1, 1]" = "[true, false]" }
        } $($files)* }
    };
}
pub(crate) use logic_rows;

macro_rules! bitwise {
    ($($op:ident: $sign:tt;)*) => {$(
        impl Binary for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                a $sign b
            }
        }
    )*};
}
bitwise! {
    bitwise_and: &;
    bitwise_or: |;
    bitwise_xor: ^;
}

impl Binary for bitwise_left_shift {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.shift_left(b)
    }
}

impl Binary for bitwise_right_shift {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.shift_right(b)
    }
}

macro_rules! comparisons {
    ($($op:ident: $sign:tt $($complex:ident)?;)*) => {$(
        impl Compare for $op {
            // `!a & b` is `a < b` on bools, but less clear.
            #[allow(clippy::bool_comparison)]
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                a $sign b
            }
            $(
                #[inline(always)]
                fn $complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> bool {
                    a $sign b
                }
            )?
        }
    )*};
}
comparisons! {
    eq: == complex;
    ne: != complex;
    lt: <;
    le: <=;
    gt: >;
    ge: >=;
}

macro_rules! logical {
    ($($op:ident: $sign:tt;)*) => {$(
        impl Compare for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> bool {
                (a != T::zero()) $sign (b != T::zero())
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                (a != T::zero()) $sign (b != T::zero())
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> bool {
                (a != Complex::default()) $sign (b != Complex::default())
            }
        }
    )*};
}
logical! {
    logical_and: &;
    logical_or: |;
    logical_xor: ^;
}
