//! Binary operations: their markers and result dtypes; the formulas are in the files of this folder.
//!
//! Operands are converted to the promoted dtype first, so a formula sees one dtype.

mod arithmetic;
mod functions;
mod logic;

pub(crate) use arithmetic::arithmetic_rows;
pub(crate) use functions::functions_rows;
pub(crate) use logic::logic_rows;

use super::Op;
use super::kernel::operand;
use super::kernel::operand_text;
use super::rules::result::{computes, form_of_result, output};
use super::rules::special::Specials;
use super::table::binary_table;
use crate::dtype::Element;
use crate::dtype::{Binary, Compute, DType, Dtype, FastPathByScalar, FastPathOfTwo};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::slope::{Derivable, OfBinary, Underived};

/// An operation of two operands: the dtype it computes in and the dtype of its result, from the promoted dtype.
pub trait BinaryOp: Op {
    /// The dtype that the operation computes in.
    type Computes<Promoted: Dtype>: Dtype;
    /// The dtype of the result.
    type Output<Promoted: Dtype>: Dtype;
    /// Its row in the table.
    #[doc(hidden)]
    const ROW: Option<usize> = None;
    /// The special fields of its row.
    #[doc(hidden)]
    const SPECIALS: Specials = Specials::NONE;
    /// Its formula, if that has a derivative.
    #[doc(hidden)]
    type Derived: Derivable;
    /// Whether integer division by zero must be checked before the operation runs.
    const DIVIDES: bool = false;
    /// Whether there is a vectorised fast path for most elements of floating dtypes.
    #[doc(hidden)]
    const HAS_FAST_PATH: bool = false;
    /// The same where the right operand is a scalar.
    #[doc(hidden)]
    const SCALAR_HAS_FAST_PATH: bool = false;
    /// Whether a scalar or zero-dim right operand keeps the compute type's precision, although it does not take part in promotion (PyTorch:
    /// `opmath` in `BinaryOpsKernel.cpp`, for `mul` and the divisions).
    const RIGHT_SCALAR_IS_EXACT: bool = false;
    /// Whether a scalar out of range of a floating dtype is an error, as in `full`.
    const CHECKS_FLOAT_SCALARS: bool = false;
    /// One element.
    #[doc(hidden)]
    fn apply<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P>;
    /// One element of each operand's own dtype, for operations that depend on those.
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
    /// Whether these elements take the fast path.
    #[doc(hidden)]
    #[inline(always)]
    fn takes_fast_path<P: Dtype>(
        _a: <Self::Computes<P> as Dtype>::Compute,
        _b: <Self::Computes<P> as Dtype>::Compute,
    ) -> bool {
        true
    }
    /// The fast path of `apply`.
    #[doc(hidden)]
    #[inline(always)]
    fn fast_path<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P> {
        Self::apply::<P>(a, b)
    }
    /// Whether these elements take the fast path, where `b` is a scalar.
    #[doc(hidden)]
    #[inline(always)]
    fn takes_fast_path_by_scalar<P: Dtype>(
        _a: <Self::Computes<P> as Dtype>::Compute,
        _b: <Self::Computes<P> as Dtype>::Compute,
    ) -> bool {
        true
    }
    /// The fast path of `apply_scalar`.
    #[doc(hidden)]
    #[inline(always)]
    fn fast_path_by_scalar<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P> {
        Self::apply_scalar::<P>(a, b)
    }
    /// `apply` as GPU text, or `apply_scalar`.
    #[doc(hidden)]
    fn text<P: Dtype>(kernel: &mut Kernel, operands: [Value; 2], by_scalar: bool) -> Value {
        let (computes, result) = (<Self::Computes<P> as Element>::DTYPE, <Self::Output<P> as Element>::DTYPE);
        kernel.combine(Self::NAME, computes, result, operands, by_scalar)
    }
    /// `apply_to` as GPU text.
    #[doc(hidden)]
    fn text_of<P: Dtype, A: Dtype, B: Dtype>(kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let operands = [operand_text::<Self, P>(kernel, a), operand_text::<Self, P>(kernel, b)];
        Self::text::<P>(kernel, operands, false)
    }
}

/// Whether all operands are `bf16`.
const fn is_bf16(dtypes: [DType; 2]) -> bool {
    matches!(dtypes, [DType::BF16, DType::BF16])
}

/// `div […] any inexact any` writes the marker `div` and `impl BinaryOp for div { type Output<P: Dtype> = P::Inexact; … }`.
macro_rules! binary_ops {
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $operand:literal $other:literal = $elements:literal $(, $special:ident)* })*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        pub struct $op {}
        impl crate::ops::sealed::Op for $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        impl BinaryOp for $op {
            const ROW: Option<usize> = Some(BinaryRow::$op as usize);
            #[allow(clippy::needless_update)]
            const SPECIALS: Specials = Specials { $($special: true,)* ..Specials::NONE };
            type Computes<P: Dtype> = computes!($result, P);
            type Output<P: Dtype> = output!($result, P);
            form_of_result!(two $result, binary_ops { @form $op });
        }
    )*
        /// The rows of the table.
        #[allow(non_camel_case_types)]
        enum BinaryRow {
            $($op,)*
        }
    };
    (@form $op:ident $form:ident $outputs:ident) => { binary_ops!(@$form $op); };
    (@binary $op:ident) => {
        type Derived = OfBinary<$op>;
        const DIVIDES: bool = <$op as Binary>::DIVIDES;
        const HAS_FAST_PATH: bool = <$op as Binary>::HAS_FAST_PATH;
        const SCALAR_HAS_FAST_PATH: bool = <$op as Binary>::SCALAR_HAS_FAST_PATH;
        const RIGHT_SCALAR_IS_EXACT: bool = <$op as Binary>::RIGHT_SCALAR_IS_EXACT;
        const CHECKS_FLOAT_SCALARS: bool = <$op as Binary>::CHECKS_FLOAT_SCALARS;
        #[inline(always)]
        fn apply<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> Self::Output<P> {
            let value = a.binary::<$op>(b);
            if const { <$op as Binary>::IS_EXACT } { Dtype::from_exact(value) } else { Dtype::from_compute(value) }
        }
        binary_ops!(@bits $op);
        #[inline(always)]
        fn apply_scalar<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> Self::Output<P> {
            Dtype::from_compute(a.binary_by_scalar::<$op>(b))
        }
        #[inline(always)]
        fn takes_fast_path<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> bool {
            a.compare::<FastPathOfTwo<$op>>(b)
        }
        #[inline(always)]
        fn fast_path<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> Self::Output<P> {
            Dtype::from_compute(a.binary::<FastPathOfTwo<$op>>(b))
        }
        #[inline(always)]
        fn takes_fast_path_by_scalar<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> bool {
            a.compare::<FastPathByScalar<$op>>(b)
        }
        #[inline(always)]
        fn fast_path_by_scalar<P: Dtype>(
            a: <Self::Computes<P> as Dtype>::Compute,
            b: <Self::Computes<P> as Dtype>::Compute,
        ) -> Self::Output<P> {
            Dtype::from_compute(a.binary::<FastPathByScalar<$op>>(b))
        }
    };
    (@neighbour $op:ident) => {
        type Derived = Underived;
        #[inline(always)]
        fn apply<P: Dtype>(a: P::Compute, b: P::Compute) -> P {
            P::from_compute(a.binary::<Among<$op, P>>(b))
        }
        binary_ops!(@bits $op);
    };
    (@bits $op:ident) => {
        #[inline(always)]
        fn apply_to<P: Dtype, A: Dtype, B: Dtype>(a: A, b: B) -> Self::Output<P> {
            if const { <$op as Binary>::OF_BITS.is_some() && is_bf16([A::DTYPE, B::DTYPE]) }
                && let Some(of) = <$op as Binary>::OF_BITS
            {
                return Dtype::from_half_bits(of(a.half_bits(), b.half_bits()));
            }
            Self::apply::<P>(operand::<Self, P, A>(a), operand::<Self, P, B>(b))
        }
    };
    (@scaled $op:ident) => {
        type Derived = Underived;
        #[inline(always)]
        fn apply<P: Dtype>(a: <P::Inexact as Dtype>::Compute, b: <P::Inexact as Dtype>::Compute) -> P::Inexact {
            functions::scaled::<P, P::Inexact, P::Inexact>(Dtype::from_compute(a), Dtype::from_compute(b))
        }
        #[inline(always)]
        fn apply_to<P: Dtype, A: Dtype, B: Dtype>(a: A, b: B) -> P::Inexact {
            functions::scaled::<P, A, B>(a, b)
        }
        fn text<P: Dtype>(kernel: &mut Kernel, [a, b]: [Value; 2], _: bool) -> Value {
            let result = <P::Inexact as Element>::DTYPE;
            let (a, b) = (kernel.cast(a, result), kernel.cast(b, result));
            functions::scaled_text::<P, P::Inexact, P::Inexact>(kernel, a, b)
        }
        fn text_of<P: Dtype, A: Dtype, B: Dtype>(kernel: &mut Kernel, a: Value, b: Value) -> Value {
            functions::scaled_text::<P, A, B>(kernel, a, b)
        }
    };
    (@compare $op:ident) => {
        type Derived = Underived;
        #[inline(always)]
        fn apply<P: Dtype>(a: P::Compute, b: P::Compute) -> bool {
            a.compare::<$op>(b)
        }
    };
}
binary_table!(binary_ops);

/// The formula of `Op` for operands that promote to `P`, if it depends on `P`.
pub(crate) struct Among<Op, P>(core::marker::PhantomData<fn() -> (Op, P)>);
