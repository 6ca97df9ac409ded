//! Which dtypes an operation admits, as bounds that name the operation in their message.
//!
//! `E: Numeric` (a set of dtypes) implies `E: NumericFor<Op>` for every operation, so generic code states the set
//! and never these. They exist so that the compiler can say "`sub` is not defined for `bool`" and why.

use crate::dtype::{Complex, Dtype, Element, bf16, f16, is};

/// For `NumericFor: Numeric, "…"` it writes the trait with that note and `impl<E: Numeric, Op> NumericFor<Op> for E`.
macro_rules! admits {
    ($($(#[$doc:meta])* $name:ident: $set:ident, $note:literal, $generic:literal;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Op}` is not defined for dtype `{Self}`",
            label = "`{Op}` does not admit `{Self}`",
            note = $note,
            note = $generic
        )]
        pub trait $name<Op>: Dtype {}
        #[diagnostic::do_not_recommend]
        impl<E: is::$set, Op> $name<Op> for E {}
    )*};
}
admits! {
    /// `Op` admits every dtype but `bool`: see [`Numeric`](crate::Numeric).
    NumericFor: Numeric, "PyTorch refuses it on bool: to invert a mask use `!` or `logical_not`, to subtract masks use `^` or `logical_xor`, to count cast with `.to::<i64>()`",
        "in generic code, bound the dtype by `Numeric`";
    /// `Op` admits every dtype with an order: see [`Ordered`](crate::Ordered).
    OrderedFor: Ordered, "complex numbers have no order: compare `.abs()`, `.real()` or `.imag()`, or use `eq` and `ne`",
        "in generic code, bound the dtype by `Ordered`";
    /// `Op` admits integers and floats: see [`Real`](crate::Real).
    RealFor: Real, "it is defined for integers and floating-point dtypes: of a complex tensor take `.real()`, `.imag()` or `.abs()`; of a bool cast first, `.to::<i64>()`",
        "in generic code, bound the dtype by `Real`";
    /// `Op` admits bools and integers: see [`Bits`](crate::Bits).
    BitsFor: Bits, "bitwise operations and shifts are defined for bool and integers only: of floats use `logical_and`, `logical_not` and their kin, or cast first, `.to::<i64>()`",
        "in generic code, bound the dtype by `Bits`";
    /// `Op` admits integers: see [`Integer`](crate::Integer).
    IntegerFor: Integer, "it is defined for integers only; cast first, for example `.to::<i64>()`",
        "in generic code, bound the dtype by `Integer`";
    /// `Op` admits floating-point dtypes: see [`Float`](crate::Float).
    FloatFor: Float, "it is defined for floating-point dtypes only; cast first, for example `.to::<f32>()`",
        "in generic code, bound the dtype by `Float`";
    /// `Op` admits floating-point and complex dtypes: see [`Inexact`](crate::Inexact).
    InexactFor: Inexact, "its result would not be an integer; cast first, for example `.to::<f32>()`",
        "in generic code, bound the dtype by `Inexact`";
    /// `Op` admits complex dtypes: see [`ComplexFloat`](crate::ComplexFloat).
    ComplexFor: ComplexFloat, "real tensors have no imaginary part; cast first, for example `.to::<Complex<f32>>()`",
        "in generic code, bound the dtype by `ComplexFloat`";
}

/// `Op` admits this pair of dtypes: neither complex, not both `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`",
    label = "`{Op}` takes integers and floating-point numbers (one operand may be bool)",
    note = "division and remainder are not defined between bools, nor for complex numbers; cast first, for example `.to::<i64>()`"
)]
pub trait RealPairFor<Rhs, Op>: Dtype {}
#[diagnostic::do_not_recommend]
impl<A: is::Real, B: is::Real, Op> RealPairFor<B, Op> for A {}
#[diagnostic::do_not_recommend]
impl<B: is::Real, Op> RealPairFor<B, Op> for bool {}
#[diagnostic::do_not_recommend]
impl<A: is::Real, Op> RealPairFor<bool, Op> for A {}

/// `Op` admits this pair of dtypes and this kind of bound: neither complex; a bool scalar does not bound bools.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtype `{Self}` and a bound of dtype `{Rhs}`",
    label = "`{Op}` takes numbers that have an order",
    note = "complex numbers have no order, and bools are not bounded by a bool scalar; cast first, for example `.to::<i64>()`"
)]
pub trait BoundedFor<Rhs, Kind, Op>: Dtype {}
#[diagnostic::do_not_recommend]
impl<A: is::Ordered, B: is::Ordered, K: crate::dtype::scalar::TensorKind, Op> BoundedFor<B, K, Op> for A {}
#[diagnostic::do_not_recommend]
impl<A: RealPairFor<B, Op>, B, Op> BoundedFor<B, crate::dtype::scalar::ScalarKind, Op> for A {}

/// `Op` admits this pair of dtypes: not both `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`",
    label = "`{Op}` takes numbers (one operand may be bool)",
    note = "it is not defined between bools; cast first, for example `.to::<i64>()`"
)]
pub trait NumericPairFor<Rhs, Op>: Dtype {}
#[diagnostic::do_not_recommend]
impl<A: is::Numeric, B: is::Numeric, Op> NumericPairFor<B, Op> for A {}
#[diagnostic::do_not_recommend]
impl<B: is::Numeric, Op> NumericPairFor<B, Op> for bool {}
#[diagnostic::do_not_recommend]
impl<A: is::Numeric, Op> NumericPairFor<bool, Op> for A {}

/// `Op` admits this pair of dtypes: integers, one of which may be `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`",
    label = "`{Op}` takes integers (one operand may be bool)",
    note = "shifts are defined for integers only; cast first, for example `.to::<i64>()`"
)]
pub trait IntegerPairFor<Rhs, Op>: Dtype {}
#[diagnostic::do_not_recommend]
impl<A: is::Integer, B: is::Integer, Op> IntegerPairFor<B, Op> for A {}
#[diagnostic::do_not_recommend]
impl<B: is::Integer, Op> IntegerPairFor<B, Op> for bool {}
#[diagnostic::do_not_recommend]
impl<A: is::Integer, Op> IntegerPairFor<bool, Op> for A {}

/// Writes a rule for pairs of which one operand is floating (or inexact): bools and integers on the left go only with such an
/// operand on the right.
macro_rules! one_of_two {
    ($($(#[$doc:meta])* $name:ident: $set:ident beside $any:path, $label:literal;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`",
            label = $label,
            note = "at least one operand must hold what the result is; cast first, for example `.to::<f32>()`"
        )]
        pub trait $name<Rhs, Op>: Dtype {}
        #[diagnostic::do_not_recommend]
        impl<A: is::$set, B: $any, Op> $name<B, Op> for A {}
        one_of_two!(@bits $name $set bool u8 i8 i16 i32 i64);
    )*};
    (@bits $name:ident $set:ident $($bits:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<B: is::$set, Op> $name<B, Op> for $bits {}
    )*};
}
one_of_two! {
    /// `Op` admits this pair of dtypes: one floating, neither complex.
    FloatPairFor: Float beside is::Ordered, "`{Op}` takes floating-point numbers (one operand may be an integer or bool)";
    /// `Op` admits this pair of dtypes: one floating or complex.
    InexactPairFor: Inexact beside Dtype, "`{Op}` takes floating-point and complex numbers (one operand may be an integer or bool)";
}

/// `Op` admits this pair of a number and an exponent: anything but a floating number and a bool.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`",
    label = "`{Op}` takes no bool as the exponent of floating-point numbers",
    note = "cast the exponent first, for example `.to::<i32>()`"
)]
pub trait ScalingFor<Rhs, Op>: Dtype {}
#[diagnostic::do_not_recommend]
impl<A: is::Float, B: is::Numeric, Op> ScalingFor<B, Op> for A {}
macro_rules! scaled_by_anything {
    ($($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<B: Dtype, Op> ScalingFor<B, Op> for $ty {}
    )*};
}
scaled_by_anything!(bool u8 i8 i16 i32 i64 Complex<f16> Complex<f32> Complex<f64>);

/// A result of dtype `Self` may be written into an output of dtype `To`: only its own.
#[diagnostic::on_unimplemented(
    message = "the result `{Self}` is not converted to the desired output type `{To}`",
    label = "the output must hold `{Self}`",
    note = "this operation writes its own dtype only; cast the operands first, or use `copy_from`"
)]
pub trait Precisely<To> {}
impl<E: Dtype> Precisely<E> for E {}
// A second candidate, so that rustc reports the message above instead of unifying.
#[diagnostic::do_not_recommend]
impl<E: Dtype> Precisely<crate::shape::Never> for E {}

/// Both operands of `Op` hold the same dtype (matrix products and shell dtypes do not promote).
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes two tensors of one dtype, got `{Self}` and `{Rhs}`",
    label = "the operands hold different dtypes",
    note = "there is no promotion here; cast one operand, for example `.to::<{Self}>()`"
)]
pub trait SameDtypeFor<Rhs, Op>: Element {}
impl<E: Element, Op> SameDtypeFor<E, Op> for E {}
// A second candidate, so that rustc reports the message above instead of unifying.
#[diagnostic::do_not_recommend]
impl<E: Element, Op> SameDtypeFor<crate::shape::Never, Op> for E {}

/// A condition is a tensor of bools.
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes a condition of dtype `bool`, got `{Self}`",
    label = "not a mask",
    note = "compare first, for example `.ne(0)`, or cast with `.to::<bool>()`"
)]
pub trait MaskFor<Op>: Dtype {}
impl<Op> MaskFor<Op> for bool {}

/// A result of `Op` and dtype `Self` may be written into an output of dtype `To`: only its own (PyTorch's operations that
/// leave the dtype as it is do not cast their output either).
#[diagnostic::on_unimplemented(
    message = "`{Op}` writes its own dtype `{Self}`, not `{To}`",
    label = "the output must hold `{Self}`",
    note = "operations that leave the dtype as it is do not cast their output; cast the operand first, or use `copy_from`"
)]
pub trait ExactlyFor<To, Op> {}
impl<E: Dtype, Op> ExactlyFor<E, Op> for E {}
// A second candidate, so that rustc reports the message above instead of unifying.
#[diagnostic::do_not_recommend]
impl<E: Dtype, Op> ExactlyFor<crate::shape::Never, Op> for E {}

/// The absolute value of `Self` may be written into an output of dtype `To`: exactly its own dtype for real elements; for
/// complex ones any floating dtype, or their own.
#[diagnostic::on_unimplemented(
    message = "the absolute value of `{Self}` can't be written into a tensor of `{To}`",
    label = "the output must hold the dtype of the result",
    note = "for real dtypes that is `{Self}` itself, for complex ones any floating-point dtype"
)]
pub trait AbsInto<To> {}
macro_rules! abs_into {
    ($($real:ty),*; $($part:ty),*) => {
        $(impl AbsInto<$real> for $real {})*
        $(
            impl<To: is::Float> AbsInto<To> for Complex<$part> {}
            impl AbsInto<Complex<$part>> for Complex<$part> {}
        )*
    };
}
abs_into!(bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64; f16, f32, f64);
