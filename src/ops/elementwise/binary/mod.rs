//! The operations of two operands: their markers and result dtypes; their formulas stand in the files below.
//!
//! Both operands are converted to the promoted dtype first; a formula sees one dtype.

mod arithmetic;
mod functions;
mod logic;

use super::Op;
use super::kernel::operand;
use super::rules::result::{computes, form_of_result, output};
use super::rules::special::Specials;
use super::table::binary_table;
use crate::dtype::{Binary, Compute, Dtype};

/// An operation of two operands: from the promoted dtype the dtype it computes in and that of its result.
pub trait BinaryOp: Op {
    /// What the operation computes in.
    type Computes<Promoted: Dtype>: Dtype;
    /// The dtype of the result.
    type Output<Promoted: Dtype>: Dtype;
    /// Where it stands in the table.
    #[doc(hidden)]
    const ROW: Option<usize> = None;
    /// What its row says is special about it.
    #[doc(hidden)]
    const SPECIALS: Specials = Specials::NONE;
    /// Integer division by zero is looked for before the operation runs.
    const DIVIDES: bool = false;
    /// A scalar or zero-dim operand on the right keeps the precision the operation computes in, although it does
    /// not count in promotion (PyTorch: `opmath` in `BinaryOpsKernel.cpp`, for `mul` and the divisions).
    const RIGHT_SCALAR_IS_EXACT: bool = false;
    /// A scalar out of the range of a floating dtype is refused too, as in `full`.
    const CHECKS_FLOAT_SCALARS: bool = false;
    /// One element.
    #[doc(hidden)]
    fn apply<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P>;
    /// One element of each operand's own dtype, for operations that look at those.
    #[doc(hidden)]
    #[inline(always)]
    fn apply_to<P: Dtype, A: Dtype, B: Dtype>(a: A, b: B) -> Self::Output<P> {
        Self::apply::<P>(operand::<Self, P, A>(a), operand::<Self, P, B>(b))
    }
    /// One element, where `b` is a scalar.
    #[doc(hidden)]
    #[inline(always)]
    fn apply_scalar<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P> {
        Self::apply::<P>(a, b)
    }
}

/// For `div […] any inexact any` it writes the marker `div` and
/// `impl BinaryOp for div { type Output<P: Dtype> = P::Inexact; … }`.
macro_rules! binary_ops {
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal $(, $special:ident)* })*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op {}
        impl crate::ops::sealed::Op for $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        impl BinaryOp for $op {
            const ROW: Option<usize> = Some(Row::$op as usize);
            #[allow(clippy::needless_update)]
            const SPECIALS: Specials = Specials { $($special: true,)* ..Specials::NONE };
            type Computes<P: Dtype> = computes!($result, P);
            type Output<P: Dtype> = output!($result, P);
            form_of_result!(two $result, binary_ops { @form $op });
        }
    )*
        /// The rows of the table.
        #[allow(non_camel_case_types)]
        enum Row {
            $($op,)*
        }
    };
    (@form $op:ident $form:ident $outputs:ident) => { binary_ops!(@$form $op); };
    (@binary $op:ident) => {
        const DIVIDES: bool = <$op as Binary>::DIVIDES;
        const RIGHT_SCALAR_IS_EXACT: bool = <$op as Binary>::RIGHT_SCALAR_IS_EXACT;
        const CHECKS_FLOAT_SCALARS: bool = <$op as Binary>::CHECKS_FLOAT_SCALARS;
        #[inline(always)]
        fn apply<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> Self::Output<P> {
            Dtype::from_compute(a.binary::<$op>(b))
        }
        #[inline(always)]
        fn apply_scalar<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> Self::Output<P> {
            Dtype::from_compute(a.binary_by_scalar::<$op>(b))
        }
    };
    (@neighbour $op:ident) => {
        #[inline(always)]
        fn apply<P: Dtype>(a: P::Compute, b: P::Compute) -> P {
            P::from_compute(a.binary::<Among<$op, P>>(b))
        }
    };
    (@scaled $op:ident) => {
        #[inline(always)]
        fn apply<P: Dtype>(a: <P::Inexact as Dtype>::Compute, b: <P::Inexact as Dtype>::Compute) -> P::Inexact {
            functions::scaled::<P, P::Inexact, P::Inexact>(Dtype::from_compute(a), Dtype::from_compute(b))
        }
        #[inline(always)]
        fn apply_to<P: Dtype, A: Dtype, B: Dtype>(a: A, b: B) -> P::Inexact {
            functions::scaled::<P, A, B>(a, b)
        }
    };
    (@compare $op:ident) => {
        #[inline(always)]
        fn apply<P: Dtype>(a: P::Compute, b: P::Compute) -> bool {
            a.compare::<$op>(b)
        }
    };
}
binary_table!(binary_ops);

/// The formula of `Op` for operands that promote to `P`, where it must know that.
pub(crate) struct Among<Op, P>(core::marker::PhantomData<fn() -> (Op, P)>);
