//! The rules of admission: which dtypes an operation takes. Each rule is written once, as a picture over the categories of dtypes.
//!
//! A picture generates the trait that bounds typed operations, with its compiler messages; the run-time check; the words in errors and
//! documentation; and the list of compiled loops.
//!
//! `E: Numeric` (a set of dtypes) implies `E: NumericFor<Op>` for every operation, so generic code uses the sets, never these traits. They
//! exist so that the compiler can say "`sub` is not defined for `bool`" and why.

use super::picture::rules;
use crate::dtype::scalar::{KindRank, ScalarKind, TensorKind};
use crate::dtype::{Category, DType, Dtype, Element, is};

pub use super::outputs::{AbsInto, ExactlyFor, Precisely};

// A row marks the admitted categories with an `x`, in the order bool, integer, float, complex. Binary operations have four rows, one per
// category of the first operand, in the same order. The set before a picture is the bound on the first operand in generic code; its dtypes
// must have equal rows. `long` marks compute-bound operations.
rules! {
    $
    // No bound beyond `Dtype`.
    all {
        any "all computing dtypes" quick [x x x x];
    }
    // One dtype; each operand of a binary operation must be admitted.
    each {
        /// `Op` admits every dtype but `bool`: see [`Numeric`](crate::Numeric).
        numeric NumericFor "all computing dtypes but bool" quick [. x x x]
            note "PyTorch refuses it on bool: to invert a mask use `!` or `logical_not`, to subtract masks use `^` or `logical_xor`, to count cast with `.to::<i64>()`"
            generic "in generic code, bound the dtype by `Numeric`";
        /// `Op` admits every dtype with an order: see [`Ordered`](crate::Ordered).
        ordered OrderedFor "bool, integers and floats" quick [x x x .]
            note "complex numbers have no order: compare `.abs()`, `.real()` or `.imag()`, or use `eq` and `ne`"
            generic "in generic code, bound the dtype by `Ordered`";
        /// `Op` admits integers and floats: see [`Real`](crate::Real).
        real RealFor "integers and floats" quick [. x x .]
            note "it is defined for integers and floating-point dtypes: of a complex tensor take `.real()`, `.imag()` or `.abs()`; of a bool cast first, `.to::<i64>()`"
            generic "in generic code, bound the dtype by `Real`";
        /// `Op` admits bools and integers: see [`Bits`](crate::Bits).
        bits BitsFor "bool and integers" quick [x x . .]
            note "bitwise operations and shifts are defined for bool and integers only: of floats use `logical_and`, `logical_not` and their kin, or cast first, `.to::<i64>()`"
            generic "in generic code, bound the dtype by `Bits`";
        /// `Op` admits integers: see [`Integer`](crate::Integer).
        integer IntegerFor "integers" quick [. x . .]
            note "it is defined for integers only; cast first, for example `.to::<i64>()`"
            generic "in generic code, bound the dtype by `Integer`";
        /// `Op` admits floating-point dtypes: see [`Float`](crate::Float).
        float FloatFor "floats" long [. . x .]
            note "it is defined for floating-point dtypes only; cast first, for example `.to::<f32>()`"
            generic "in generic code, bound the dtype by `Float`";
        /// `Op` admits floating-point and complex dtypes: see [`Inexact`](crate::Inexact).
        inexact InexactFor "floats and complex" long [. . x x]
            note "its result would not be an integer; cast first, for example `.to::<f32>()`"
            generic "in generic code, bound the dtype by `Inexact`";
        /// `Op` admits complex dtypes: see [`ComplexFloat`](crate::ComplexFloat).
        complex ComplexFor "complex" long [. . . x]
            note "real tensors have no imaginary part; cast first, for example `.to::<Complex<f32>>()`"
            generic "in generic code, bound the dtype by `ComplexFloat`";
    }
    // Two operands of one dtype, each of which must be admitted.
    alike {
        alike OrderedFor "bool, integers and floats, both operands of one dtype" quick [x x x .];
    }
    pairs {
        /// `Op` admits this pair of dtypes: neither complex, not both `bool`.
        real_pair RealPairFor "integers and floats; one operand may be bool" long
            message "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`"
            label "`{Op}` takes integers and floating-point numbers (one operand may be bool)"
            note "division and remainder are not defined between bools, nor for complex numbers; cast first, for example `.to::<i64>()`"
            Real [. x x .] [x x x .] [x x x .] [. . . .];
        /// `Op` admits this pair of dtypes: not both `bool`.
        numeric_pair NumericPairFor "numbers; one operand may be bool" long
            message "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`"
            label "`{Op}` takes numbers (one operand may be bool)"
            note "it is not defined between bools; cast first, for example `.to::<i64>()`"
            Numeric [. x x x] [x x x x] [x x x x] [x x x x];
        /// `Op` admits this pair of dtypes: integers, one of which may be `bool`.
        integer_pair IntegerPairFor "integers; one operand may be bool" quick
            message "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`"
            label "`{Op}` takes integers (one operand may be bool)"
            note "shifts are defined for integers only; cast first, for example `.to::<i64>()`"
            Integer [. x . .] [x x . .] [. . . .] [. . . .];
        /// `Op` admits this pair of dtypes: one floating, neither complex.
        float_pair FloatPairFor "floats; one operand may be an integer or bool" long
            message "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`"
            label "`{Op}` takes floating-point numbers (one operand may be an integer or bool)"
            note "at least one operand must hold what the result is; cast first, for example `.to::<f32>()`"
            Float [. . x .] [. . x .] [x x x .] [. . . .];
        /// `Op` admits this pair of dtypes: one floating or complex.
        inexact_pair InexactPairFor "floats and complex; one operand may be an integer or bool" long
            message "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`"
            label "`{Op}` takes floating-point and complex numbers (one operand may be an integer or bool)"
            note "at least one operand must hold what the result is; cast first, for example `.to::<f32>()`"
            Inexact [. . x x] [. . x x] [x x x x] [x x x x];
        /// `Op` admits this pair of a number and an exponent: any, except a bool exponent of a floating number.
        scaling ScalingFor "all computing dtypes, but no bool as the exponent of floats" long
            message "`{Op}` is not defined for dtypes `{Self}` and `{Rhs}`"
            label "`{Op}` takes no bool as the exponent of floating-point numbers"
            note "cast the exponent first, for example `.to::<i32>()`"
            Float [x x x x] [x x x x] [. x x x] [x x x x];
    }
    // A rule of pairs that also admits bools with a bool scalar.
    bools_by_scalars {
        power = numeric_pair NumericPairFor "numbers; one operand may be bool, both if the exponent is a scalar";
    }
    // Rules that depend on the kind of the second operand.
    kinds {
        /// `Op` admits this pair of dtypes and this kind of bound: neither complex; a bool scalar does not bound bools.
        bounded BoundedFor "bool, integers and floats; a bool scalar does not bound bools" quick
            message "`{Op}` is not defined for dtype `{Self}` and a bound of dtype `{Rhs}`"
            label "`{Op}` takes numbers that have an order"
            note "complex numbers have no order, and bools are not bounded by a bool scalar; cast first, for example `.to::<i64>()`"
            tensors: Ordered [x x x .] [x x x .] [x x x .] [. . . .],
            scalars: Real [. x x .] [x x x .] [x x x .] [. . . .];
    }
}

/// The admitted pairs for second operands of these kinds: scalars, zero-dim tensors, tensors with axes.
#[cfg_attr(not(feature = "any"), allow(dead_code))]
struct Picture {
    beside: [bool; 3],
    /// By the categories of both operands.
    cells: [[bool; 4]; 4],
}

#[cfg_attr(not(feature = "any"), allow(dead_code))]
impl Admits {
    /// Whether the dtype is admitted, for a single operand.
    pub(crate) const fn one(self, dtype: DType) -> bool {
        match self.row() {
            Some(row) => !dtype.is_shell() && row[dtype.category() as usize],
            None => false,
        }
    }

    /// Whether the pair is admitted with a second operand of this kind.
    pub(crate) const fn two(self, [a, b]: [DType; 2], kind: KindRank) -> bool {
        if a.is_shell() || b.is_shell() {
            return false;
        }
        if self.row().is_some() {
            return self.one(a) && self.one(b) && (!self.is_of_one_dtype() || a as u8 == b as u8);
        }
        if let Some(rule) = self.but_for_bools() {
            let bools = matches!([a, b], [DType::Bool, DType::Bool]) && matches!(kind, KindRank::Scalar);
            return bools || rule.two([a, b], kind);
        }
        let (mut at, pictures) = (0, self.pictures());
        while at < pictures.len() {
            let Picture { beside, cells } = &pictures[at];
            if beside[kind as usize] && cells[a.category() as usize][b.category() as usize] {
                return true;
            }
            at += 1;
        }
        false
    }
}

// The order in which the pictures' rows are indexed.
const _: () = assert!(
    Category::Boolean as usize == 0
        && Category::Integral as usize == 1
        && Category::Floating as usize == 2
        && Category::Complex as usize == 3
        && KindRank::Scalar as usize == 0
);

/// Both operands of `Op` hold the same dtype (matrix products and shell dtypes do not promote).
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes two tensors of one dtype, got `{Self}` and `{Rhs}`",
    label = "the operands hold different dtypes",
    note = "there is no promotion here; cast one operand, for example `.to::<{Self}>()`"
)]
pub trait SameDtypeFor<Rhs, Op>: Element {}
impl<E: Element, Op> SameDtypeFor<E, Op> for E {}
// A second impl, so that rustc reports the message above instead of unifying the types.
#[diagnostic::do_not_recommend]
impl<E: Element, Op> SameDtypeFor<crate::shape::Never, Op> for E {}

/// The dtype of a condition: `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes a condition of dtype `bool`, got `{Self}`",
    label = "not a mask",
    note = "compare first, for example `.ne(0)`, or cast with `.to::<bool>()`"
)]
pub trait MaskFor<Op>: Dtype {}
impl<Op> MaskFor<Op> for bool {}
