//! The operations of one operand: their markers and result dtypes; their formulas stand in the files below.
//!
//! A formula stands once per category. Complex formulas follow PyTorch's (`c10/util/complex.h`,
//! `aten/src/ATen/native/cpu/UnaryOpsKernel.cpp`) in what they make of zeros, infinities and NaN.

mod activation;
mod elementary;
mod questions;
mod rounding;
mod special;

use super::Op;
use super::admit::*;
use super::table::unary_table;
use crate::dtype::{Castable, Compute, DType, Dtype, Unary, Usual};

/// An operation of one operand on elements of dtype `E`: the result dtype, and the function.
pub trait UnaryOp<E: Dtype>: Op {
    /// The dtype of the result.
    type Output: Dtype;
    /// Where it stands in the table.
    #[doc(hidden)]
    const ROW: Option<usize> = None;
    /// Whether an element takes longer to compute than memory takes to give it.
    #[doc(hidden)]
    const IS_LONG: bool = false;
    /// Whether devices may compute it by tables, which gives other last digits.
    #[doc(hidden)]
    const BY_LOOKUP: bool = false;
    /// One element.
    #[doc(hidden)]
    fn apply(x: E) -> Self::Output;
    /// Whether there is another form for usual elements, which vectorises.
    #[doc(hidden)]
    const HAS_USUAL: bool = false;
    /// Whether that form holds for this element.
    #[doc(hidden)]
    #[inline(always)]
    fn is_usual(_x: E) -> bool {
        true
    }
    /// That form.
    #[doc(hidden)]
    #[inline(always)]
    fn usual(x: E) -> Self::Output {
        Self::apply(x)
    }
}

/// For `exp […] any inexact` it writes the marker `exp` and
/// `impl<E: Dtype> UnaryOp<E> for exp { type Output = E::Inexact; … }`.
macro_rules! unary_ops {
    ($($op:ident [$($method:ident)*] $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op {}
        impl crate::ops::sealed::Op for $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        unary_ops!(@admits $admits $op $result);
    )*
        /// The rows of the table.
        #[allow(non_camel_case_types)]
        enum Row {
            $($op,)*
        }
    };
    (@admits any $op:ident $result:ident) => { unary_ops!(@$result $op [Dtype]); };
    (@admits numeric $op:ident $result:ident) => { unary_ops!(@$result $op [NumericFor<$op>]); };
    (@admits ordered $op:ident $result:ident) => { unary_ops!(@$result $op [OrderedFor<$op>]); };
    (@admits real $op:ident $result:ident) => { unary_ops!(@$result $op [RealFor<$op>]); };
    (@admits bits $op:ident $result:ident) => { unary_ops!(@$result $op [BitsFor<$op>]); };
    (@admits float $op:ident same) => { unary_ops!(@same $op [FloatFor<$op>] true); };
    (@admits inexact $op:ident same) => { unary_ops!(@same $op [InexactFor<$op>] true); };
    (@admits float $op:ident $result:ident) => { unary_ops!(@$result $op [FloatFor<$op>]); };
    (@admits inexact $op:ident $result:ident) => { unary_ops!(@$result $op [InexactFor<$op>]); };
    (@same $op:ident [$($bound:tt)+]) => { unary_ops!(@same $op [$($bound)+] false); };
    (@same $op:ident [$($bound:tt)+] $long:literal) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            const IS_LONG: bool = $long;
            const BY_LOOKUP: bool = <$op as Unary>::BY_LOOKUP && matches!(E::DTYPE, DType::F32);
            type Output = E;
            #[inline(always)]
            fn apply(x: E) -> E {
                E::from_compute(x.to_compute().unary::<$op>())
            }
        }
    };
    (@inexact $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            const IS_LONG: bool = true;
            const BY_LOOKUP: bool = <$op as Unary>::BY_LOOKUP && matches!(E::DTYPE, DType::F32);
            type Output = E::Inexact;
            #[inline(always)]
            fn apply(x: E) -> E::Inexact {
                E::Inexact::from_compute(x.cast::<E::Inexact>().to_compute().unary::<$op>())
            }
            const HAS_USUAL: bool = <$op as Unary>::HAS_USUAL;
            #[inline(always)]
            fn is_usual(x: E) -> bool {
                x.cast::<E::Inexact>().to_compute().predicate::<Usual<$op>>()
            }
            #[inline(always)]
            fn usual(x: E) -> E::Inexact {
                E::Inexact::from_compute(x.cast::<E::Inexact>().to_compute().unary::<Usual<$op>>())
            }
        }
    };
    (@divided $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = E::Inexact;
            #[inline(always)]
            fn apply(x: E) -> E::Inexact {
                let divisor = E::from_compute(x.to_compute().unary::<$op>());
                <super::div as super::BinaryOp>::apply::<E>(
                    x.cast::<E::Inexact>().to_compute(),
                    divisor.cast::<E::Inexact>().to_compute(),
                )
            }
        }
    };
    (@subtracted $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = E::Inexact;
            #[inline(always)]
            fn apply(x: E) -> E::Inexact {
                let x = x.cast::<E::Inexact>().to_compute();
                let part = E::Inexact::from_compute(x.unary::<$op>());
                <super::sub as super::BinaryOp>::apply::<E::Inexact>(x, part.to_compute())
            }
        }
    };
    (@integer $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = E::Over<i64>;
            #[inline(always)]
            fn apply(x: E) -> E::Over<i64> {
                Dtype::from_compute(x.cast::<E::Over<i64>>().to_compute().unary::<$op>())
            }
        }
    };
    (@mask $op:ident [$($bound:tt)+]) => { unary_ops!(@boolean $op [$($bound)+]); };
    (@boolean $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = bool;
            #[inline(always)]
            fn apply(x: E) -> bool {
                x.to_compute().predicate::<$op>()
            }
        }
    };
    (@real_part $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = E::RealDtype;
            #[inline(always)]
            fn apply(x: E) -> E::RealDtype {
                // The real part of what E computes in is what E's real dtype computes in.
                x.to_compute().to_real::<$op>().cast()
            }
        }
    };
    (@angle $op:ident [$($bound:tt)+]) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = <E::Inexact as crate::dtype::Promotable>::RealDtype;
            #[inline(always)]
            fn apply(x: E) -> Self::Output {
                x.cast::<E::Inexact>().to_compute().to_real::<$op>().cast()
            }
        }
    };
}
unary_table!(unary_ops);
