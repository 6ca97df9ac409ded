//! What two ranks' elements give together: one table of loops, which threads run, and MPI where it has no such operation itself.

use super::Reduce::{self, And, Max, Min, Or, Product, Sum};
use super::wire::{Half, halves, halves_mut};
use crate::error::{Error::Arguments, Result};
use castiron::DType::{self, *};
use castiron::dtype::{CastTo, Complex, bf16, f16};
use castiron::{Tensor, TensorView, TensorViewMut, shape};

/// Combines the elements of the second list into the first.
pub(crate) type Combine = fn(&mut [u8], &[u8]);

/// A reduction in terms of those that engines have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lowered {
    pub dtype: DType,
    pub reduce: Reduce,
    /// How many numbers of `dtype` an element is.
    pub parts: usize,
    /// Whether these are wider than the element's own.
    pub wide: bool,
}

/// The reduction that engines do for `reduce` of elements of `dtype`; an error if there is none.
pub(crate) fn lower(what: &str, dtype: DType, reduce: Reduce) -> Result<Lowered> {
    let same = |dtype, reduce| Lowered { dtype, reduce, parts: 1, wide: false };
    let wraps = matches!(reduce, Sum | Product | And | Or);
    let lowered = match (dtype, reduce) {
        // Truth values are bytes of 0 and 1.
        (Bool, Sum | Max | Or) => same(U8, Or),
        (Bool, Product | Min | And) => same(U8, And),
        // Bits of two's complement.
        (I8, _) if wraps => same(U8, reduce),
        (I16, _) if wraps => same(U16, reduce),
        (I32, _) if wraps => same(U32, reduce),
        (I64, _) if wraps => same(U64, reduce),
        (F16 | BF16, Sum | Product | Max | Min) => Lowered { wide: true, ..same(F32, reduce) },
        (C32, Sum) => Lowered { wide: true, parts: 2, ..same(F32, Sum) },
        (C32, Product) => Lowered { wide: true, ..same(C64, Product) },
        (C64, Sum) => Lowered { parts: 2, ..same(F32, Sum) },
        (C128, Sum) => Lowered { parts: 2, ..same(F64, Sum) },
        _ => same(dtype, reduce),
    };
    if combine(lowered.dtype, lowered.reduce).is_none() {
        return Err(Arguments(format!("{what}: there is no {reduce:?} of {dtype}")));
    }
    Ok(lowered)
}

/// Writes the loop over the elements of two lists of bytes: `each!(f32, |a, b| a + b)`.
macro_rules! each {
    ($ty:ty, |$a:ident, $b:ident| $result:expr) => {{
        fn run(into: &mut [u8], from: &[u8]) {
            let (into, _) = into.as_chunks_mut::<{ size_of::<$ty>() }>();
            let (from, _) = from.as_chunks::<{ size_of::<$ty>() }>();
            for (into, from) in into.iter_mut().zip(from) {
                let ($a, $b) = (<$ty>::from_ne_bytes(*into), <$ty>::from_ne_bytes(*from));
                *into = <$ty>::to_ne_bytes($result);
            }
        }
        Some(run as Combine)
    }};
}

macro_rules! products {
    ($ty:ty) => {{
        fn run(into: &mut [u8], from: &[u8]) {
            let (into, _) = into.as_chunks_mut::<{ size_of::<$ty>() }>();
            let (from, _) = from.as_chunks::<{ size_of::<$ty>() }>();
            let read = |bytes: &[u8; size_of::<$ty>()]| <$ty>::from_ne_bytes(*bytes);
            for (into, from) in into.as_chunks_mut::<2>().0.iter_mut().zip(from.as_chunks::<2>().0) {
                let product = into.each_ref().map(read);
                let product = Complex::new(product[0], product[1]) * Complex::new(read(&from[0]), read(&from[1]));
                *into = [product.re.to_ne_bytes(), product.im.to_ne_bytes()];
            }
        }
        Some(run as Combine)
    }};
}

/// The loop of a reduction that [`lower`] gives.
pub(crate) fn combine(dtype: DType, reduce: Reduce) -> Option<Combine> {
    macro_rules! unsigned {
        ($ty:ty) => {
            match reduce {
                Sum => each!($ty, |a, b| a.wrapping_add(b)),
                Product => each!($ty, |a, b| a.wrapping_mul(b)),
                Max => each!($ty, |a, b| a.max(b)),
                Min => each!($ty, |a, b| a.min(b)),
                And => each!($ty, |a, b| a & b),
                Or => each!($ty, |a, b| a | b),
            }
        };
    }
    macro_rules! signed {
        ($ty:ty) => {
            match reduce {
                Max => each!($ty, |a, b| a.max(b)),
                Min => each!($ty, |a, b| a.min(b)),
                Sum | Product | And | Or => None,
            }
        };
    }
    // NaN if one is, and of two zeros always the same, so that the order of ranks is not seen.
    macro_rules! float {
        ($ty:ty) => {
            match reduce {
                Sum => each!($ty, |a, b| a + b),
                Product => each!($ty, |a, b| a * b),
                Max => each!($ty, |a, b| if a.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b }),
                Min => each!($ty, |a, b| if a.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b }),
                And | Or => None,
            }
        };
    }
    match dtype {
        U8 => unsigned!(u8),
        U16 => unsigned!(u16),
        U32 => unsigned!(u32),
        U64 => unsigned!(u64),
        I8 => signed!(i8),
        I16 => signed!(i16),
        I32 => signed!(i32),
        I64 => signed!(i64),
        F32 => float!(f32),
        F64 => float!(f64),
        C64 if reduce == Product => products!(f32),
        C128 if reduce == Product => products!(f64),
        _ => None,
    }
}

/// The numbers of 16 bits of `dtype`, as `f32`.
pub(crate) fn widen(dtype: DType, from: &[u8]) -> Result<Vec<f32>> {
    fn widened<E: Half + CastTo<f32>>(from: &[u8]) -> Result<Vec<f32>> {
        let from = halves::<E>(from);
        let from: TensorView<'_, E, shape![_]> = TensorView::try_from_slice_sized(from, [from.len()])?;
        Ok(from.try_to::<f32>()?.into_vec())
    }
    if dtype == BF16 { widened::<bf16>(from) } else { widened::<f16>(from) }
}

/// Rounds what [`widen`] gave.
pub(crate) fn narrow(dtype: DType, wide: Vec<f32>, into: &mut [u8]) -> Result<()> {
    fn narrowed<E: Half>(wide: Vec<f32>, into: &mut [u8]) -> Result<()>
    where
        f32: CastTo<E>,
    {
        let len = [wide.len()];
        let wide: Tensor<f32, shape![_]> = Tensor::try_from_vec_sized(wide, len)?;
        let mut into: TensorViewMut<'_, E, shape![_]> = TensorViewMut::try_from_slice_mut_sized(halves_mut(into), len)?;
        Ok(into.try_copy_from(&wide)?)
    }
    if dtype == BF16 { narrowed::<bf16>(wide, into) } else { narrowed::<f16>(wide, into) }
}
