//! Unary operations: their markers and result dtypes; the formulas are in the files of this folder.
//!
//! There is one formula for each category. Complex formulas follow PyTorch's (`c10/util/complex.h`,
//! `aten/src/ATen/native/cpu/UnaryOpsKernel.cpp`) for zeros, infinities and NaN.

mod activation;
mod elementary;
mod questions;
mod rounding;
mod special;

pub(crate) use activation::{activation_rows, logistic};
pub(crate) use elementary::elementary_rows;
pub(crate) use questions::questions_rows;
pub(crate) use rounding::rounding_rows;
pub(crate) use special::special_rows;

use super::Op;
use super::rules::admit::{Admits, bound_of_one};
use super::rules::result::{computes, form_of_result, output};
use super::table::unary_table;
use crate::dtype::{Castable, Compute, DType, Dtype, FastPath, ToReal, Unary};
#[cfg(feature = "any")]
use crate::ops::slope::Formula;
use crate::ops::slope::{Derived, OfDivided, OfReal, OfSubtracted, OfUnary, Slope};

/// An operation of one operand of dtype `E`: the result dtype, and the function.
pub trait UnaryOp<E: Dtype>: Op {
    /// The dtype of the result.
    type Output: Dtype;
    /// Its row in the table.
    #[doc(hidden)]
    const ROW: Option<usize> = None;
    /// The derivative.
    #[doc(hidden)]
    const SLOPE: Slope = Slope::Missing;
    /// Whether it is compute-bound rather than memory-bound.
    #[doc(hidden)]
    const IS_COMPUTE_BOUND: bool = false;
    /// Whether devices may use lookup tables, which changes the last digits.
    #[doc(hidden)]
    const BY_LOOKUP: bool = false;
    /// One element.
    #[doc(hidden)]
    fn apply(x: E) -> Self::Output;
    /// Whether there is a vectorised fast path for most elements.
    #[doc(hidden)]
    const HAS_FAST_PATH: bool = false;
    /// Whether the fast path is cheap.
    #[doc(hidden)]
    const FAST_PATH_IS_BRIEF: bool = false;
    /// Whether this element takes the fast path.
    #[doc(hidden)]
    #[inline(always)]
    fn takes_fast_path(_x: E) -> bool {
        true
    }
    /// The fast path.
    #[doc(hidden)]
    #[inline(always)]
    fn fast_path(x: E) -> Self::Output {
        Self::apply(x)
    }
}

/// `exp […] any inexact` writes the marker `exp` and `impl<E: Dtype> UnaryOp<E> for exp { type Output = E::Inexact; … }`.
macro_rules! unary_ops {
    ($($op:ident { $methods:tt $admits:ident $result:ident, $doc:literal $($rest:tt)* })*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        pub struct $op {}
        impl crate::ops::sealed::Op for $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        #[cfg(feature = "any")]
        impl $op {
            /// The derivative for all dtypes, if it has one.
            pub(crate) const FORMULA: Option<&'static Formula> =
                form_of_result!(one $result, unary_ops { @formula $op $admits });
        }
        bound_of_one!($admits, $op, unary_ops { @of $op $admits $result });
    )*
        /// The rows of the table.
        #[allow(non_camel_case_types)]
        enum UnaryRow {
            $($op,)*
        }
    };
    (@formula $op:ident $admits:ident predicate $outputs:ident) => { None };
    (@formula $op:ident $admits:ident divided $outputs:ident) => { unary_ops!(@all OfDivided, $op $admits) };
    (@formula $op:ident $admits:ident subtracted $outputs:ident) => { unary_ops!(@all OfSubtracted, $op $admits) };
    (@formula $op:ident $admits:ident real $outputs:ident) => { unary_ops!(@all OfReal, $op $admits) };
    (@formula $op:ident $admits:ident $form:ident $outputs:ident) => { unary_ops!(@all OfUnary, $op $admits) };
    (@all $of:ident, $op:ident $admits:ident) => {
        crate::ops::slope::DerivedOfAll::<$of<$op>, { Admits::$admits.takes_complex() }>::ONE
    };
    (@of $op:ident $admits:ident $result:ident $bound:tt) => {
        form_of_result!(one $result, unary_ops { @impl $op $admits $result $bound });
    };
    (@impl $op:ident $admits:ident $result:ident [$($bound:tt)+] $form:ident $outputs:ident) => {
        impl<E: $($bound)+> UnaryOp<E> for $op {
            const ROW: Option<usize> = Some(UnaryRow::$op as usize);
            type Output = output!($result, E);
            unary_ops!(@$form $op $admits $result);
        }
    };
    (@own $op:ident $admits:ident $result:ident) => {
        const SLOPE: Slope = Derived::<OfUnary<$op>, computes!($result, E)>::SLOPE;
        const IS_COMPUTE_BOUND: bool = Admits::$admits.is_long();
        const BY_LOOKUP: bool = <$op as Unary>::BY_LOOKUP && matches!(E::DTYPE, DType::F32);
        #[inline(always)]
        fn apply(x: E) -> E {
            if const { <$op as Unary>::OF_BITS.is_some() && matches!(E::DTYPE, DType::BF16) }
                && let Some(of) = <$op as Unary>::OF_BITS
            {
                return E::from_half_bits(of(x.half_bits()));
            }
            let value = x.to_compute().unary::<$op>();
            if const { <$op as Unary>::IS_EXACT } { E::from_exact(value) } else { E::from_compute(value) }
        }
        const HAS_FAST_PATH: bool = <$op as Unary>::HAS_FAST_PATH;
        const FAST_PATH_IS_BRIEF: bool = <$op as Unary>::FAST_PATH_IS_BRIEF;
        #[inline(always)]
        fn takes_fast_path(x: E) -> bool {
            x.to_compute().predicate::<FastPath<$op>>()
        }
        #[inline(always)]
        fn fast_path(x: E) -> E {
            E::from_compute(x.to_compute().unary::<FastPath<$op>>())
        }
    };
    (@inexact $op:ident $admits:ident $result:ident) => {
        const SLOPE: Slope = Derived::<OfUnary<$op>, computes!($result, E)>::SLOPE;
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
        const SLOPE: Slope = Derived::<OfDivided<$op>, computes!($result, E)>::SLOPE;
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
        const SLOPE: Slope = Derived::<OfSubtracted<$op>, computes!($result, E)>::SLOPE;
        #[inline(always)]
        fn apply(x: E) -> E::Inexact {
            let x = x.cast::<E::Inexact>().to_compute();
            let part = E::Inexact::from_compute(x.unary::<$op>());
            <super::sub as super::BinaryOp>::apply::<E::Inexact>(x, part.to_compute())
        }
    };
    (@converted $op:ident $admits:ident $result:ident) => {
        const SLOPE: Slope = Derived::<OfUnary<$op>, computes!($result, E)>::SLOPE;
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
        const SLOPE: Slope = Derived::<OfReal<$op>, computes!($result, E)>::SLOPE;
        #[inline(always)]
        fn apply(x: E) -> Self::Output {
            if const { <$op as ToReal>::OF_BITS.is_some() && matches!(E::DTYPE, DType::BF16) }
                && let Some(of) = <$op as ToReal>::OF_BITS
            {
                return Dtype::from_half_bits(of(x.half_bits()));
            }
            // The real part of a complex dtype's compute type is the compute type of its real dtype.
            let value = x.cast::<computes!($result, E)>().to_compute().to_real::<$op>();
            if const { <$op as ToReal>::IS_EXACT } { Self::Output::from_exact(value.cast()) } else { value.cast() }
        }
    };
}
unary_table!(unary_ops);
