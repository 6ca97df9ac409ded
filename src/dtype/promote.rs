//! Promotion: the dtype of a result from the dtypes and kinds of its operands.
//!
//! One matrix (PyTorch's `promote_types`) and one rule (`over!`, for operands of different kinds) are used both by the compiler, as total
//! type functions that need no bounds, and at run time.

use super::scalar::{Kind, KindOutcome};
use super::{DType, Dtype, Element, Inexact, Numeric, Ordered};
use crate::sealed::Sealed;
use ::half::{bf16, f16};
use core::marker::PhantomData;
use num_complex::Complex;

/// A dtype that takes part in promotion. Every [`Dtype`] does; shell dtypes do not.
///
/// All associated types are *total functions*: `A::With<B>` exists for every pair, so generic code needs no where-clause to add an `A` to a
/// `B`.
#[diagnostic::on_unimplemented(
    message = "promotion is not defined for the shell dtype `{Self}`",
    label = "arithmetic needs one of the 13 computing dtypes",
    note = "cast first, for example `.to::<f32>()`; shell dtypes (u16, u32, u64, float8, float4) can be stored, moved, compared and cast"
)]
pub trait Promotable: Element + Columns {
    /// `torch.promote_types(Self, R)`: the result dtype for operands of the same kind.
    ///
    /// Signatures call it [`Promoted<Self, R>`](Promoted): where the compiler finds `Tensor<<A as Promotable>::With<B>, S>`, write
    /// `Tensor<Promoted<A, B>, S>`, or convert the result with `.to::<A>()`.
    type With<R: Promotable>: Dtype;
    /// The result dtype when `Self` outranks the other operand (a tensor with axes outranks a zero-dim tensor, which outranks a scalar):
    /// the other operand counts only if its category is higher.
    type Over<Lower: Promotable>: Dtype;
    /// The result dtype of float-only functions and true division: the default float dtype (`f32`) for integers and bools; floating and
    /// complex dtypes are kept.
    type Inexact: Inexact;
    /// The dtype of a sum: `i64` for bools and integers, else `Self`.
    type Sum: Numeric + Promotable<Sum = Self::Sum, Inexact = Self::Inexact>;
    /// The dtype that a Rust scalar of this category counts as: `bool`, `i64`, `f32` or `Complex<f32>`.
    type Scalar: Dtype;
    /// The same as [`Element::Real`], known to compute.
    type RealDtype: Ordered;
    /// Whether the result is the same dtype for all kinds of operands. Carries two laws that the compiler uses in generic code.
    #[doc(hidden)]
    type Meet<R: Promotable>: Promotion<Result<Self::With<R>> = Self::With<R>>
        + Promotion<Result<Self::Over<R>> = Self::Over<R>>;
}

/// `A` promoted with `B`: `Promoted<i32, f16>` is `f16`.
///
/// ```
/// use castiron::{Dim, Dtype, Promoted, Tensor};
/// fn mixed<A: Dtype, B: Dtype, N: Dim>(x: &Tensor<A, (N,)>, y: &Tensor<B, (N,)>) -> Tensor<Promoted<A, B>, (N,)> {
///     x + y
/// }
/// ```
pub type Promoted<A, B> = <A as Promotable>::With<B>;

/// Promotion as a trait with an associated `Output`, implemented for every pair of computing dtypes.
///
/// ```
/// use castiron::{DType, Element, Promote};
/// assert_eq!(<i64 as Promote<castiron::f16>>::Output::DTYPE, DType::F16);
/// assert_eq!(<u8 as Promote<i8>>::Output::DTYPE, DType::I16);
/// ```
///
/// Prefer [`Promoted`] in signatures: it is the same type and needs no bound.
pub trait Promote<Rhs>: Sealed {
    /// `torch.promote_types(Self, Rhs)`.
    type Output: Dtype;
}
impl<A: Promotable, B: Promotable> Promote<B> for A {
    type Output = A::With<B>;
}

/// The result dtype of an operation on an `A` of kind `Ka` and a `B` of kind `Kb` (`torch.result_type`).
///
/// ```
/// use castiron::dtype::{promote::ResultType, scalar::{Dimensioned, ZeroDim}};
/// use castiron::{DType, Element};
/// // i64 tensor + zero-dim f64 tensor: the higher category wins, with the zero-dim operand's dtype.
/// assert_eq!(ResultType::<Dimensioned, i64, ZeroDim, f64>::DTYPE, DType::F64);
/// // i32 tensor + zero-dim i64 tensor: same category, so the zero-dim operand's dtype is ignored.
/// assert_eq!(ResultType::<Dimensioned, i32, ZeroDim, i64>::DTYPE, DType::I32);
/// ```
pub type ResultType<Ka, A, Kb, B> =
    <<A as Promotable>::Meet<B> as Promotion>::Result<<<Ka as Kind>::Meet<Kb> as KindOutcome>::Pick<A, B>>;

/// What two dtypes determine about a result: `Same<E>` makes it `E` for all kinds (so that `x / x.sum()` and `x * mask` need no bound in
/// code generic over the shape); `Different` leaves it to the kinds.
#[doc(hidden)]
pub trait Promotion {
    type Result<R: Dtype>: Dtype;
}
#[doc(hidden)]
pub struct Same<E>(PhantomData<E>);
#[doc(hidden)]
pub struct Different;
impl<E: Dtype> Promotion for Same<E> {
    type Result<R: Dtype> = E;
}
impl Promotion for Different {
    type Result<R: Dtype> = R;
}

/// The rule for operands of different kinds: the result of the higher-ranked `$a` with the lower-ranked `$low`. A lower-ranked operand
/// counts only if its category is higher; then the result has its category, with the component size of the higher-ranked operand where both
/// are floating or complex.
macro_rules! over {
    ($a:ident Boolean, $low:ident $any:ident) => {
        $low
    };
    ($a:ident Integral, $low:ident Boolean) => {
        $a
    };
    ($a:ident Integral, $low:ident Integral) => {
        $a
    };
    ($a:ident Integral, $low:ident $higher:ident) => {
        $low
    };
    (f16 Floating, $low:ident Complex) => {
        c32
    };
    (bf16 Floating, $low:ident Complex) => {
        c64
    };
    (f32 Floating, $low:ident Complex) => {
        c64
    };
    (f64 Floating, $low:ident Complex) => {
        c128
    };
    ($a:ident $any:ident, $low:ident $lower:ident) => {
        $a
    };
}

/// `=` on the diagonal means "the same dtype".
macro_rules! cell {
    ($row:ident =) => {
        $row
    };
    ($row:ident $cell:ident) => {
        $cell
    };
}
/// `Same` where the result is one dtype for all kinds: where the categories differ and precision does not matter.
macro_rules! meet {
    ($row:ident $cat:ident, $col:ident $ccat:ident, =) => { Same<$row> };
    ($row:ident Boolean, $col:ident $ccat:ident, $cell:ident) => { Same<$cell> };
    ($row:ident $cat:ident, $col:ident Boolean, $cell:ident) => { Same<$cell> };
    ($row:ident Integral, $col:ident Integral, $cell:ident) => { Different };
    ($row:ident Integral, $col:ident $ccat:ident, $cell:ident) => { Same<$cell> };
    ($row:ident $cat:ident, $col:ident Integral, $cell:ident) => { Same<$cell> };
    (f16 $cat:ident, c32 $ccat:ident, $cell:ident) => { Same<$cell> };
    (bf16 $cat:ident, c64 $ccat:ident, $cell:ident) => { Same<$cell> };
    (f32 $cat:ident, c64 $ccat:ident, $cell:ident) => { Same<$cell> };
    (f64 $cat:ident, c128 $ccat:ident, $cell:ident) => { Same<$cell> };
    (c32 $cat:ident, f16 $ccat:ident, $cell:ident) => { Same<$cell> };
    (c64 $cat:ident, bf16 $ccat:ident, $cell:ident) => { Same<$cell> };
    (c64 $cat:ident, f32 $ccat:ident, $cell:ident) => { Same<$cell> };
    (c128 $cat:ident, f64 $ccat:ident, $cell:ident) => { Same<$cell> };
    ($row:ident $cat:ident, $col:ident $ccat:ident, $cell:ident) => { Different };
}

/// Writes the matrix as types and as tables. For the row `i32` and the column `f16` it expands to
/// ```text
/// impl Columns for i32 { type WithF16 = f16; type OverF16 = f16; type MeetF16 = Same<f16>; … }
/// impl Promotable for i32 { type With<R: Promotable> = R::WithI32; type Over<L: Promotable> = L::OverI32; … }
/// ```
/// (`R::WithI32` reads row `R`, column `i32`: the matrix is symmetric.)
macro_rules! promotion {
    ($header:tt $($row:ident $cat:ident ($With:ident $Over:ident $Meet:ident)
        ($inexact:ident $sum:ident $scalar:ident $real:ident) $cells:tt;)*) => {
        promotion!(@columns $header);
        $(
            impl Promotable for $row {
                type With<R: Promotable> = R::$With;
                type Over<Lower: Promotable> = Lower::$Over;
                type Inexact = $inexact;
                type Sum = $sum;
                type Scalar = $scalar;
                type RealDtype = $real;
                type Meet<R: Promotable> = R::$Meet;
            }
            promotion!(@row $row $cat $header $cells);
        )*
        /// The computing dtypes in the order of the matrix.
        const ORDER: [DType; 13] = [$(<$row as Element>::DTYPE),*];
        const WITH: [[DType; 13]; 13] = [$(promotion!(@with $row $cells)),*];
        const OVER: [[DType; 13]; 13] = [$(promotion!(@over $row $cat $header)),*];
    };
    (@columns [$(($With:ident $Over:ident $Meet:ident $col:ident $ccat:ident))*]) => {
        /// One row of the promotion matrix: the promotion of `Self` with each dtype.
        #[doc(hidden)]
        pub trait Columns: Sized {
            $(
                type $With: Dtype;
                type $Over: Dtype;
                type $Meet: Promotion<Result<Self::$With> = Self::$With>
                    + Promotion<Result<Self::$Over> = Self::$Over>;
            )*
        }
    };
    (@row $row:ident $cat:ident [$(($With:ident $Over:ident $Meet:ident $col:ident $ccat:ident))*] [$($cell:tt)*]) => {
        impl Columns for $row {
            $(
                type $With = cell!($row $cell);
                type $Over = over!($col $ccat, $row $cat);
                type $Meet = meet!($row $cat, $col $ccat, $cell);
            )*
        }
    };
    (@with $row:ident [$($cell:tt)*]) => { [$(<cell!($row $cell) as Element>::DTYPE),*] };
    (@over $row:ident $cat:ident [$(($With:ident $Over:ident $Meet:ident $col:ident $ccat:ident))*]) => {
        [$(<over!($row $cat, $col $ccat) as Element>::DTYPE),*]
    };
}

#[allow(non_camel_case_types)]
type c32 = Complex<f16>;
#[allow(non_camel_case_types)]
type c64 = Complex<f32>;
#[allow(non_camel_case_types)]
type c128 = Complex<f64>;

promotion! {
    [(WithBool OverBool MeetBool bool Boolean)
     (WithU8 OverU8 MeetU8 u8 Integral) (WithI8 OverI8 MeetI8 i8 Integral) (WithI16 OverI16 MeetI16 i16 Integral)
     (WithI32 OverI32 MeetI32 i32 Integral) (WithI64 OverI64 MeetI64 i64 Integral)
     (WithF16 OverF16 MeetF16 f16 Floating) (WithBF16 OverBF16 MeetBF16 bf16 Floating)
     (WithF32 OverF32 MeetF32 f32 Floating) (WithF64 OverF64 MeetF64 f64 Floating)
     (WithC32 OverC32 MeetC32 c32 Complex) (WithC64 OverC64 MeetC64 c64 Complex) (WithC128 OverC128 MeetC128 c128 Complex)]
    //                                               inexact sum scalar real      bool u8   i8   i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
    bool Boolean  (WithBool OverBool MeetBool) (f32 i64 bool bool)               [=    u8   i8   i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128];
    u8   Integral (WithU8 OverU8 MeetU8)       (f32 i64 i64 u8)                  [u8   =    i16  i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128];
    i8   Integral (WithI8 OverI8 MeetI8)       (f32 i64 i64 i8)                  [i8   i16  =    i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128];
    i16  Integral (WithI16 OverI16 MeetI16)    (f32 i64 i64 i16)                 [i16  i16  i16  =    i32  i64  f16  bf16 f32  f64  c32  c64  c128];
    i32  Integral (WithI32 OverI32 MeetI32)    (f32 i64 i64 i32)                 [i32  i32  i32  i32  =    i64  f16  bf16 f32  f64  c32  c64  c128];
    i64  Integral (WithI64 OverI64 MeetI64)    (f32 i64 i64 i64)                 [i64  i64  i64  i64  i64  =    f16  bf16 f32  f64  c32  c64  c128];
    f16  Floating (WithF16 OverF16 MeetF16)    (f16 f16 f32 f16)                 [f16  f16  f16  f16  f16  f16  =    f32  f32  f64  c32  c64  c128];
    bf16 Floating (WithBF16 OverBF16 MeetBF16) (bf16 bf16 f32 bf16)              [bf16 bf16 bf16 bf16 bf16 bf16 f32  =    f32  f64  c64  c64  c128];
    f32  Floating (WithF32 OverF32 MeetF32)    (f32 f32 f32 f32)                 [f32  f32  f32  f32  f32  f32  f32  f32  =    f64  c64  c64  c128];
    f64  Floating (WithF64 OverF64 MeetF64)    (f64 f64 f32 f64)                 [f64  f64  f64  f64  f64  f64  f64  f64  f64  =    c128 c128 c128];
    c32  Complex  (WithC32 OverC32 MeetC32)    (c32 c32 c64 f16)                 [c32  c32  c32  c32  c32  c32  c32  c64  c64  c128 =    c64  c128];
    c64  Complex  (WithC64 OverC64 MeetC64)    (c64 c64 c64 f32)                 [c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  =    c128];
    c128 Complex  (WithC128 OverC128 MeetC128) (c128 c128 c64 f64)               [c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 =   ];
}

/// Position in the matrix; `None` for shells.
const fn position(dtype: DType) -> Option<usize> {
    let mut at = 0;
    while at < ORDER.len() {
        if ORDER[at] as usize == dtype as usize {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// `promote_types` at run time; `None` if either is a shell.
pub(super) const fn with(a: DType, b: DType) -> Option<DType> {
    match (position(a), position(b)) {
        (Some(a), Some(b)) => Some(WITH[a][b]),
        _ => None,
    }
}

/// The promotion of `a` with the lower-ranked `lower` at run time; `None` if either is a shell.
pub(super) const fn over(a: DType, lower: DType) -> Option<DType> {
    match (position(a), position(lower)) {
        (Some(a), Some(lower)) => Some(OVER[a][lower]),
        _ => None,
    }
}
