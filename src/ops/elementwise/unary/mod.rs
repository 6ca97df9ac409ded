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
use super::rules::admit::{Admits, bound_of_one};
use super::rules::result::{computes, form_of_result, output};
use super::table::unary_table;
use crate::dtype::{Castable, Compute, DType, Dtype, FastPath, Unary};

/// An operation of one operand on elements of dtype `E`: the result dtype, and the function.
pub trait UnaryOp<E: Dtype>: Op {
    /// The dtype of the result.
    type Output: Dtype;
    /// Where it stands in the table.
    #[doc(hidden)]
    const ROW: Option<usize> = None;
    /// Whether an element takes longer to compute than memory takes to give it.
    #[doc(hidden)]
    const IS_COMPUTE_BOUND: bool = false;
    /// Whether devices may compute it by tables, which gives other last digits.
    #[doc(hidden)]
    const BY_LOOKUP: bool = false;
    /// One element.
    #[doc(hidden)]
    fn apply(x: E) -> Self::Output;
    /// Whether there is another form for usual elements, which vectorises.
    #[doc(hidden)]
    const HAS_FAST_PATH: bool = false;
    /// Whether that form holds for this element.
    #[doc(hidden)]
    #[inline(always)]
    fn takes_fast_path(_x: E) -> bool {
        true
    }
    /// That form.
    #[doc(hidden)]
    #[inline(always)]
    fn fast_path(x: E) -> Self::Output {
        Self::apply(x)
    }
}

/// For `exp […] any inexact` it writes the marker `exp` and
/// `impl<E: Dtype> UnaryOp<E> for exp { type Output = E::Inexact; … }`.
macro_rules! unary_ops {
    ($($op:ident { $methods:tt $admits:ident $result:ident, $doc:literal $($rest:tt)* })*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op {}
        impl crate::ops::sealed::Op for $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        bound_of_one!($admits, $op, unary_ops { @of $op $admits $result });
    )*
        /// The rows of the table.
        #[allow(non_camel_case_types)]
        enum Row {
            $($op,)*
        }
    };
    (@of $op:ident $admits:ident $result:ident $bound:tt) => {
        form_of_result!(one $result, unary_ops { @impl $op $admits $result $bound });
    };
    (@impl $op:ident $admits:ident $result:ident [$($bound:tt)+] $form:ident $outputs:ident) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            type Output = output!($result, E);
            unary_ops!(@$form $op $admits $result);
        }
    };
    (@own $op:ident $admits:ident $result:ident) => {
        const IS_COMPUTE_BOUND: bool = Admits::$admits.is_long();
        const BY_LOOKUP: bool = <$op as Unary>::BY_LOOKUP && matches!(E::DTYPE, DType::F32);
        #[inline(always)]
        fn apply(x: E) -> E {
            E::from_compute(x.to_compute().unary::<$op>())
        }
    };
    (@inexact $op:ident $admits:ident $result:ident) => {
        const IS_COMPUTE_BOUND: bool = true;
        const BY_LOOKUP: bool = <$op as Unary>::BY_LOOKUP && matches!(E::DTYPE, DType::F32);
        #[inline(always)]
        fn apply(x: E) -> E::Inexact {
            E::Inexact::from_compute(x.cast::<E::Inexact>().to_compute().unary::<$op>())
        }
        const HAS_FAST_PATH: bool = <$op as Unary>::HAS_FAST_PATH;
        #[inline(always)]
        fn takes_fast_path(x: E) -> bool {
            x.cast::<E::Inexact>().to_compute().predicate::<FastPath<$op>>()
        }
        #[inline(always)]
        fn fast_path(x: E) -> E::Inexact {
            E::Inexact::from_compute(x.cast::<E::Inexact>().to_compute().unary::<FastPath<$op>>())
        }
    };
    (@divided $op:ident $admits:ident $result:ident) => {
        #[inline(always)]
        fn apply(x: E) -> E::Inexact {
            let divisor = E::from_compute(x.to_compute().unary::<$op>());
            <super::div as super::BinaryOp>::apply::<E>(
                x.cast::<E::Inexact>().to_compute(),
                divisor.cast::<E::Inexact>().to_compute(),
            )
        }
    };
    (@subtracted $op:ident $admits:ident $result:ident) => {
        #[inline(always)]
        fn apply(x: E) -> E::Inexact {
            let x = x.cast::<E::Inexact>().to_compute();
            let part = E::Inexact::from_compute(x.unary::<$op>());
            <super::sub as super::BinaryOp>::apply::<E::Inexact>(x, part.to_compute())
        }
    };
    (@converted $op:ident $admits:ident $result:ident) => {
        #[inline(always)]
        fn apply(x: E) -> Self::Output {
            Dtype::from_compute(x.cast::<Self::Output>().to_compute().unary::<$op>())
        }
    };
    (@predicate $op:ident $admits:ident $result:ident) => {
        #[inline(always)]
        fn apply(x: E) -> bool {
            x.to_compute().predicate::<$op>()
        }
    };
    (@real $op:ident $admits:ident $result:ident) => {
        #[inline(always)]
        fn apply(x: E) -> Self::Output {
            // The real part of what a dtype computes in is what its real dtype computes in.
            x.cast::<computes!($result, E)>().to_compute().to_real::<$op>().cast()
        }
    };
}
unary_table!(unary_ops);
