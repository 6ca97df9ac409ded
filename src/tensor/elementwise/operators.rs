//! Rust's operators: `+ - * / % & | ^ << >>`, unary `- !`, the assigning forms, and scalars on the left.
//!
//! `/` is true division, `%` has the sign of the divisor (PyTorch's `remainder`), `!` inverts bits and negates bools.

use crate::device::{Device, Meet, Receives};
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::ScalarKind;
use crate::dtype::{CanCast, Complex, Dtype, Element, Scalar, bf16, f16};
use crate::error::{Result, unwrap};
use crate::ops::kernel::{CombiningLeft, DividingScalar};
use crate::ops::{self, BinaryOp, UnaryOp};
use crate::shape::{Broadcast, Shape, WrittenTo};
use crate::tensor::base::assign::Inside;
use crate::tensor::base::operand::Operand;
use crate::tensor::elementwise::apply::{Outcome, combine, combine_scalar};
use crate::tensor::elementwise::methods::Admits;
use crate::tensor::elementwise::output::update;
use crate::tensor::elementwise::reuse_operand::{combine_owned, combine_scalar_owned};
use crate::tensor::{Tensor, TensorView, TensorViewMut};
use core::ops::*;

/// Types that can be the right operand of `Op` with a tensor on the left.
///
/// The conditions of an operator are bounds on the right operand: rustc looks the operator up before it knows that operand, finds it, and
/// then reports the failed condition instead of a missing operator.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for `Tensor<{E}, {S}, {D}>` and `{Self}`",
    label = "expected a tensor of a computing dtype, a reference to one, or a Rust scalar",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`, or taken over by `Tensor::from_vec(v)`; a number behind a reference is read by `*`",
    note = "an `AnyTensor` becomes typed by `.typed::<E, S, D>()?`, or the other operand an `AnyTensor`: `AnyTensor::from(x)`; of a sparse tensor `.to_dense()` is strided",
    note = "shell dtypes (u16, u32, u64, float8, float4) are cast first, for example `.to::<f32>()`"
)]
pub trait RightOf<Op, E: Element, S: Shape, D: Device> {
    type Output;
    fn right_of(self, left: &Tensor<E, S, D>) -> Result<Self::Output>;
    /// `right_of` where `left` is not needed any more, so that it may be overwritten.
    fn right_of_owned(self, left: Tensor<E, S, D>) -> Result<Self::Output>
    where
        Self: Sized,
    {
        self.right_of(&left)
    }
}
impl<Op, E, S, D, R> RightOf<Op, E, S, D> for R
where
    E: Dtype,
    R: Operand,
    Op: BinaryOp + Admits<E, R::Elem, R::Kind>,
    S: Shape + Broadcast<R::Shape>,
    D: Device + Meet<R::Place, S::Kind, R::Kind>,
{
    type Output = Tensor<
        Outcome<Op, E, S, R>,
        <S as Broadcast<R::Shape>>::Output,
        <D as Meet<R::Place, S::Kind, R::Kind>>::Output,
    >;
    #[inline]
    fn right_of(self, left: &Tensor<E, S, D>) -> Result<Self::Output> {
        combine::<Op, E, S, D, R, _, _>(left, &self)
    }
    #[inline]
    fn right_of_owned(self, left: Tensor<E, S, D>) -> Result<Self::Output> {
        combine_owned::<Op, E, S, D, R, _, _>(left, &self)
    }
}

/// Types that can be the right operand of `Op` in its assigning form.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Op}` with `{Self}` is not written into `Tensor<{E}, {S}, {D}>`",
    label = "expected a tensor of a computing dtype, a reference to one, a Rust scalar, or an expression whose result may be cast to `{E}` and broadcasts to `{S}`",
    note = "an expression of another dtype or shape makes a new tensor: `let x = fused!(x + y)`, or is converted: `x.copy_from(&fused!(x + y))`",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`, or taken over by `Tensor::from_vec(v)`; a number behind a reference is read by `*`",
    note = "an `AnyTensor` becomes typed by `.typed::<E, S, D>()?`, or the other operand an `AnyTensor`: `AnyTensor::from(x)`; of a sparse tensor `.to_dense()` is strided",
    note = "shell dtypes (u16, u32, u64, float8, float4) are cast first, for example `.to::<f32>()`"
)]
pub trait AssignedTo<Op, E: Element, S: Shape, D: Device> {
    fn assigned_to(self, left: &mut Tensor<E, S, D>, _: Inside) -> Result<()>;
}
impl<Op, E, S, D, R> AssignedTo<Op, E, S, D> for R
where
    E: Dtype,
    R: Operand,
    Op: BinaryOp + Admits<E, R::Elem, R::Kind>,
    Outcome<Op, E, S, R>: CanCast<E>,
    S: Shape + Broadcast<R::Shape>,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
    D: Device + Receives<R::Place, R::Kind>,
{
    fn assigned_to(self, left: &mut Tensor<E, S, D>, _: Inside) -> Result<()> {
        update::<Op, E, S, D, R>(left, &self)
    }
}

/// For `Add add AddAssign add_assign = add` it writes `Tensor + R`, `&Tensor + R` and `Tensor += R`.
macro_rules! operators {
    ($($Trait:ident $method:ident $Assign:ident $assign:ident = $op:ident, $sign:literal;)*) => {$(
        #[doc = concat!("`a ", $sign, " b`: [`", stringify!($op), "`](Tensor::", stringify!($op), "). A scalar of any type may stand on either side.")]
        ///
        /// # Panics
        #[doc = concat!("Where sizes known at run time do not broadcast, or a scalar does not fit; `try_", stringify!($op), "` returns the error.")]
        impl<E: Element, S: Shape, D: Device, R: RightOf<ops::$op, E, S, D>> $Trait<R> for &Tensor<E, S, D> {
            type Output = R::Output;
            #[inline]
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output {
                unwrap(rhs.right_of(self))
            }
        }

        #[doc = concat!("`a ", $sign, " b`: [`", stringify!($op), "`](Tensor::", stringify!($op), "). A scalar of any type may stand on either side.")]
        ///
        /// # Panics
        #[doc = concat!("Where sizes known at run time do not broadcast, or a scalar does not fit; `try_", stringify!($op), "` returns the error.")]
        impl<E: Element, S: Shape, D: Device, R: RightOf<ops::$op, E, S, D>> $Trait<R> for Tensor<E, S, D> {
            type Output = R::Output;
            #[inline]
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output {
                unwrap(rhs.right_of_owned(self))
            }
        }

        #[doc = concat!("`a ", $sign, "= b`: `", stringify!($op), "_`. The result must be castable to `a`'s dtype and have `a`'s shape.")]
        ///
        /// # Panics
        #[doc = concat!("Where sizes known at run time do not fit, or a scalar does not; `try_", stringify!($op), "_` returns the error.")]
        impl<E: Element, S: Shape, D: Device, R: AssignedTo<ops::$op, E, S, D>> $Assign<R> for Tensor<E, S, D> {
            #[track_caller]
            fn $assign(&mut self, rhs: R) {
                unwrap(rhs.assigned_to(self, Inside))
            }
        }

        operators!(@view [TensorView] $Trait $method $op, $sign);
        operators!(@view [&TensorView] $Trait $method $op, $sign);
        operators!(@view [&TensorViewMut] $Trait $method $op, $sign);

        #[doc = concat!("`a ", $sign, "= b`: [`", stringify!($op), "_`](TensorViewMut::", stringify!($op), "_).")]
        ///
        /// # Panics
        #[doc = concat!("Where `try_", stringify!($op), "_` returns an error.")]
        impl<E: Element, S: Shape, D: Device, R: AssignedTo<ops::$op, E, S, D>> $Assign<R> for TensorViewMut<'_, E, S, D> {
            #[track_caller]
            fn $assign(&mut self, rhs: R) {
                unwrap(rhs.assigned_to(self.target(), Inside))
            }
        }
    )*};
    (@view [$($view:tt)+] $Trait:ident $method:ident $op:ident, $sign:literal) => {
        #[doc = concat!("`a ", $sign, " b`: [`", stringify!($op), "`](Tensor::", stringify!($op), ").")]
        ///
        /// # Panics
        #[doc = concat!("Where `try_", stringify!($op), "` returns an error.")]
        impl<E: Element, S: Shape, D: Device, R: RightOf<ops::$op, E, S, D>> $Trait<R> for $($view)+<'_, E, S, D> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output {
                let tensor: &Tensor<E, S, D> = &self;
                unwrap(rhs.right_of(tensor))
            }
        }
    };
}
operators! {
    Add add AddAssign add_assign = add, "+";
    Sub sub SubAssign sub_assign = sub, "-";
    Mul mul MulAssign mul_assign = mul, "*";
    Div div DivAssign div_assign = div, "/";
    Rem rem RemAssign rem_assign = remainder, "%";
    BitAnd bitand BitAndAssign bitand_assign = bitwise_and, "&";
    BitOr bitor BitOrAssign bitor_assign = bitwise_or, "|";
    BitXor bitxor BitXorAssign bitxor_assign = bitwise_xor, "^";
    Shl shl ShlAssign shl_assign = bitwise_left_shift, "<<";
    Shr shr ShrAssign shr_assign = bitwise_right_shift, ">>";
}

macro_rules! unary_operators {
    ($($Trait:ident $method:ident = $op:ident, $sign:literal;)*) => {$(
        #[doc = concat!("`", $sign, "a`: [`", stringify!($op), "`](Tensor::", stringify!($op), ").")]
        impl<E: Dtype, S: Shape, D: Device> $Trait for &Tensor<E, S, D>
        where
            ops::$op: UnaryOp<E>,
        {
            type Output = Tensor<<ops::$op as UnaryOp<E>>::Output, S, D>;
            #[track_caller]
            fn $method(self) -> Self::Output {
                Tensor::<E, S, D>::$op(self)
            }
        }

        #[doc = concat!("`", $sign, "a`: [`", stringify!($op), "`](Tensor::", stringify!($op), ").")]
        impl<E: Dtype, S: Shape, D: Device> $Trait for Tensor<E, S, D>
        where
            ops::$op: UnaryOp<E>,
        {
            type Output = Tensor<<ops::$op as UnaryOp<E>>::Output, S, D>;
            #[track_caller]
            fn $method(self) -> Self::Output {
                Tensor::<E, S, D>::$op(&self)
            }
        }

        unary_operators!(@view [TensorView] $Trait $method $op, $sign);
        unary_operators!(@view [&TensorView] $Trait $method $op, $sign);
        unary_operators!(@view [&TensorViewMut] $Trait $method $op, $sign);
    )*};
    (@view [$($view:tt)+] $Trait:ident $method:ident $op:ident, $sign:literal) => {
        #[doc = concat!("`", $sign, "a`: [`", stringify!($op), "`](Tensor::", stringify!($op), ").")]
        impl<E: Dtype, S: Shape, D: Device> $Trait for $($view)+<'_, E, S, D>
        where
            ops::$op: UnaryOp<E>,
        {
            type Output = Tensor<<ops::$op as UnaryOp<E>>::Output, S, D>;
            #[track_caller]
            fn $method(self) -> Self::Output {
                Tensor::<E, S, D>::$op(&self)
            }
        }
    };
}
unary_operators! {
    Neg neg = neg, "-";
    Not not = bitwise_not, "!";
}

/// The promoted dtype of a scalar of dtype `A` on the left and a tensor of shape `S` and dtype `E`: the same as with the scalar on the
/// right. The traits of promotion take the tensor first.
type PromotedLeft<A, E, S> = ResultType<<S as Shape>::Kind, E, ScalarKind, A>;

/// For each scalar type and operator it writes `scalar + Tensor` and `scalar + &Tensor`. (The documentation of `Tensor + …` has them all.)
macro_rules! scalars_on_the_left {
    ($($scalar:ty),*) => {$(
        scalars_on_the_left!(@ $scalar;
            Add add add CombiningLeft, "+"; Sub sub sub CombiningLeft, "-"; Mul mul mul CombiningLeft, "*";
            Div div div DividingScalar, "/"; Rem rem remainder CombiningLeft, "%";
            BitAnd bitand bitwise_and CombiningLeft, "&"; BitOr bitor bitwise_or CombiningLeft, "|";
            BitXor bitxor bitwise_xor CombiningLeft, "^";
            Shl shl bitwise_left_shift CombiningLeft, "<<"; Shr shr bitwise_right_shift CombiningLeft, ">>");
    )*};
    (@ $scalar:ty; $($Trait:ident $method:ident $op:ident $kernel:ident, $sign:literal);*) => {$(
        #[cfg_attr(doc, doc(hidden))]
        #[doc = concat!("`scalar ", $sign, " tensor`: the scalar counts in promotion by its category alone.")]
        impl<E: Dtype, S: Shape, D: Device> $Trait<&Tensor<E, S, D>> for $scalar
        where
            ops::$op: Admits<<$scalar as Scalar>::Counts, E, S::Kind>,
        {
            type Output = Tensor<<ops::$op as BinaryOp>::Output<PromotedLeft<<$scalar as Scalar>::Counts, E, S>>, S, D>;
            #[track_caller]
            fn $method(self, rhs: &Tensor<E, S, D>) -> Self::Output {
                type P<E, S> = PromotedLeft<<$scalar as Scalar>::Counts, E, S>;
                unwrap(combine_scalar::<ops::$op, E, P<E, S>, S, D, _>(
                    self.value(),
                    rhs,
                    scalars_on_the_left!(@exact $kernel),
                    scalars_on_the_left!(@kernel $kernel $op E S),
                ))
            }
        }

        #[cfg_attr(doc, doc(hidden))]
        #[doc = concat!("`scalar ", $sign, " tensor`: the scalar counts in promotion by its category alone.")]
        impl<E: Dtype, S: Shape, D: Device> $Trait<Tensor<E, S, D>> for $scalar
        where
            ops::$op: Admits<<$scalar as Scalar>::Counts, E, S::Kind>,
        {
            type Output = Tensor<<ops::$op as BinaryOp>::Output<PromotedLeft<<$scalar as Scalar>::Counts, E, S>>, S, D>;
            #[track_caller]
            fn $method(self, rhs: Tensor<E, S, D>) -> Self::Output {
                type P<E, S> = PromotedLeft<<$scalar as Scalar>::Counts, E, S>;
                unwrap(combine_scalar_owned::<ops::$op, E, P<E, S>, S, D, _>(
                    self.value(),
                    rhs,
                    scalars_on_the_left!(@exact $kernel),
                    scalars_on_the_left!(@kernel $kernel $op E S),
                ))
            }
        }

        #[cfg_attr(doc, doc(hidden))]
        #[doc = concat!("`scalar ", $sign, " tensor`: the scalar counts in promotion by its category alone.")]
        impl<E: Dtype, S: Shape, D: Device> $Trait<&TensorView<'_, E, S, D>> for $scalar
        where
            ops::$op: Admits<<$scalar as Scalar>::Counts, E, S::Kind>,
        {
            type Output = Tensor<<ops::$op as BinaryOp>::Output<PromotedLeft<<$scalar as Scalar>::Counts, E, S>>, S, D>;
            #[track_caller]
            fn $method(self, rhs: &TensorView<'_, E, S, D>) -> Self::Output {
                let rhs: &Tensor<E, S, D> = rhs;
                $Trait::$method(self, rhs)
            }
        }
    )*};
    (@exact CombiningLeft) => { false };
    (@exact DividingScalar) => { true };
    (@kernel CombiningLeft $op:ident $e:ident $s:ident) => { CombiningLeft::<ops::$op, P<$e, $s>> };
    (@kernel DividingScalar $op:ident $e:ident $s:ident) => {
        DividingScalar::<<ops::$op as BinaryOp>::Computes<P<$e, $s>>>
    };
}
scalars_on_the_left!(bool, u8, i8, i16, i32, i64, u16, u32, u64, usize, isize);
scalars_on_the_left!(f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);
