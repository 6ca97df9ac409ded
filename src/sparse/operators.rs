//! Operators with one or two sparse operands: the possible right operands, and the results.
//!
//! | | sparse | strided | scalar, zero-dim |
//! |---|---|---|---|
//! | sparse `+ -` | sparse | strided | refused |
//! | sparse `*` | sparse | sparse | sparse |
//! | sparse `/` | refused | refused | sparse |
//! | strided `+ -` | strided | | |
//! | strided `*` | sparse | | |

use super::add::merge_sum;
use super::dense::{add_dense, fold_assign, subtract_dense};
use super::mul::{product, product_with_dense};
use super::scaling::scaled;
use super::{SparseCoo, SparseTensor};
use crate::device::Cpu;
use crate::dtype::scalar::{Dimensioned, ScalarKind};
use crate::dtype::{CanCast, Complex, Dtype, Element, Promoted, Scalar, bf16, f16};
use crate::error::{Result, unwrap};
use crate::ops;
use crate::ops::admit::NumericPairFor;
use crate::ops::reduce::Accumulating;
use crate::shape::{Broadcast, Merge, Shape, WrittenTo};
use crate::tensor::{Admits, AssignedTo, Inside, Outcome, PromotedWith, RightOf, Tensor};
use castiron_macros::fallible;
use core::ops::*;

/// The right operand of `Op` with a sparse left operand.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for a sparse tensor of shape `{S}` and `{Self}`",
    label = "not what goes with a sparse tensor here",
    note = "sparse tensors are added to and subtracted from tensors of their shape, multiplied by those that broadcast to it and by scalars, and divided by scalars and zero-dim tensors",
    note = "sparse tensors are on `Cpu`: an operand elsewhere is moved first, `.to_device::<Cpu>()?`; `.to_dense()` gives a strided tensor, which goes with everything on its device"
)]
pub trait RightOfSparse<Op, E: Element, S: Shape, const N: usize> {
    type Output;
    fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output>;
}

/// A result that can be written to a sparse tensor of dtype `E` and shape `S` in place.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be written into a sparse tensor of dtype `{E}` and shape `{S}`",
    label = "the result must be sparse, of the same shape, and castable to the dtype",
    note = "sparse + strided is strided: write `let x = x + y`"
)]
pub trait WrittenToSparse<E: Element, S: Shape, const N: usize> {
    fn written_to(self) -> Result<SparseTensor<E, S, N>>;
}
impl<E: Dtype, F: Dtype + CanCast<E>, S: Shape, T: Shape + WrittenTo<S>, const N: usize> WrittenToSparse<E, S, N>
    for SparseTensor<F, T, N>
{
    fn written_to(self) -> Result<SparseTensor<E, S, N>> {
        // The sizes are those of the left operand, of shape `S`.
        Ok(self.try_to::<E>()?.retyped_sparse())
    }
}

/// For owned and borrowed tensors, and for sums, differences and products, writes the right operands of a sparse tensor, and the results of
/// a strided tensor with a sparse one on the right.
macro_rules! right_operands {
    ($([$($by:tt)*])*) => {$(
        right_operands!(@sum [$($by)*] add Accumulating);
        right_operands!(@sum [$($by)*] sub ops::sub);

        impl<E, F, S, T, const N: usize> RightOfSparse<ops::mul, E, S, N> for $($by)* Tensor<F, T, Cpu, SparseCoo<N>>
        where
            E: Dtype + NumericPairFor<F, ops::mul>,
            F: Dtype,
            S: Shape + Merge<T>,
            T: Shape,
            ops::mul: Admits<E, F, Dimensioned>,
        {
            type Output = SparseTensor<Promoted<E, F>, <S as Merge<T>>::Output, N>;
            fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output> {
                product(left, &self)
            }
        }
        impl<E, F, S, T, const N: usize> RightOfSparse<ops::mul, E, S, N> for $($by)* Tensor<F, T>
        where
            E: Dtype,
            F: Dtype,
            S: Shape + Broadcast<T>,
            T: Shape,
            <S as Broadcast<T>>::Output: WrittenTo<S>,
            ops::mul: Admits<E, F, T::Kind>,
        {
            type Output = SparseTensor<Outcome<ops::mul, E, S, Tensor<F, T>>, S, N>;
            fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output> {
                by_dense::<E, F, PromotedWith<E, S, Tensor<F, T>>, S, T, N>(left, &self)
            }
        }
        impl<E, F, S, T, const N: usize> RightOf<ops::mul, E, S, Cpu> for $($by)* Tensor<F, T, Cpu, SparseCoo<N>>
        where
            E: Dtype,
            F: Dtype,
            S: Shape,
            T: Shape + Broadcast<S>,
            <T as Broadcast<S>>::Output: WrittenTo<T>,
            ops::mul: Admits<F, E, S::Kind>,
        {
            type Output = SparseTensor<Outcome<ops::mul, F, T, Tensor<E, S>>, T, N>;
            fn right_of(self, left: &Tensor<E, S>) -> Result<Self::Output> {
                by_dense::<F, E, PromotedWith<F, T, Tensor<E, S>>, T, S, N>(&self, left)
            }
        }
        impl<E, F, S, const N: usize> RightOfSparse<ops::div, E, S, N> for $($by)* Tensor<F, ()>
        where
            E: Dtype,
            F: Dtype,
            S: Shape,
            ops::div: Admits<E, F, crate::dtype::scalar::ZeroDim>,
        {
            type Output = SparseTensor<Outcome<ops::div, E, S, Tensor<F, ()>>, S, N>;
            fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output> {
                scaled::<ops::div, E, PromotedWith<E, S, Tensor<F, ()>>, Tensor<F, ()>, S, N>(left, &self)
            }
        }
    )*};
    (@sum [$($by:tt)*] $op:ident $fold:ty) => {
        impl<E, F, S, T, const N: usize> RightOfSparse<ops::$op, E, S, N> for $($by)* Tensor<F, T, Cpu, SparseCoo<N>>
        where
            E: Dtype + NumericPairFor<F, ops::$op>,
            F: Dtype,
            S: Shape + Merge<T>,
            T: Shape,
            ops::$op: Admits<E, F, Dimensioned>,
        {
            type Output = SparseTensor<Promoted<E, F>, <S as Merge<T>>::Output, N>;
            fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output> {
                merge_sum::<$fold, E, F, Promoted<E, F>, S, T, _, N>(stringify!($op), left, &self)
            }
        }
        impl<E, F, S, T, const N: usize> RightOfSparse<ops::$op, E, S, N> for $($by)* Tensor<F, T>
        where
            E: Dtype,
            F: Dtype,
            S: Shape + Merge<T>,
            T: Shape,
            ops::$op: Admits<E, F, Dimensioned>,
        {
            type Output = Tensor<Promoted<E, F>, <S as Merge<T>>::Output>;
            fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output> {
                right_operands!(@from_sparse $op left self)
            }
        }
        impl<E, F, S, T, const N: usize> RightOf<ops::$op, E, S, Cpu> for $($by)* Tensor<F, T, Cpu, SparseCoo<N>>
        where
            E: Dtype,
            F: Dtype,
            S: Shape + Merge<T>,
            T: Shape,
            ops::$op: Admits<E, F, Dimensioned>,
        {
            type Output = Tensor<Promoted<E, F>, <S as Merge<T>>::Output>;
            fn right_of(self, left: &Tensor<E, S>) -> Result<Self::Output> {
                add_dense::<$fold, E, F, Promoted<E, F>, S, T, _, N>(stringify!($op), left, &self)
            }
        }
        impl<E, F, S, T, const N: usize> AssignedTo<ops::$op, E, S, Cpu> for $($by)* Tensor<F, T, Cpu, SparseCoo<N>>
        where
            E: Dtype,
            F: Dtype,
            S: Shape + Merge<T>,
            T: Shape,
            ops::$op: Admits<E, F, Dimensioned>,
            Promoted<E, F>: CanCast<E>,
        {
            fn assigned_to(self, left: &mut Tensor<E, S>, _: Inside) -> Result<()> {
                fold_assign::<$fold, E, F, Promoted<E, F>, S, T, N>(stringify!($op), left, &self)
            }
        }
    };
    // A sum is commutative.
    (@from_sparse add $left:ident $right:ident) => {
        add_dense::<Accumulating, F, E, Promoted<E, F>, T, S, _, N>("add", &$right, $left)
    };
    (@from_sparse sub $left:ident $right:ident) => {
        subtract_dense::<E, F, Promoted<E, F>, S, T, _, N>($left, &$right)
    };
}
right_operands! { [] [&] }

/// `sparse * dense`, where `dense` is zero-dim or broadcast.
fn by_dense<E: Dtype, F: Dtype, P: Dtype, S: Shape, T: Shape, const N: usize>(
    sparse: &SparseTensor<E, S, N>,
    dense: &Tensor<F, T>,
) -> Result<SparseTensor<P, S, N>> {
    if T::RANK == 0 {
        let number = dense.clone().retyped::<()>();
        return scaled::<ops::mul, E, P, Tensor<F, ()>, S, N>(sparse, &number);
    }
    product_with_dense(sparse, dense)
}

/// `mul` writes the result of a sparse tensor with a scalar on the right.
macro_rules! scalars_on_the_right {
    ($($op:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<A, E, S, const N: usize> RightOfSparse<ops::$op, E, S, N> for A
        where
            A: Scalar,
            E: Dtype,
            S: Shape,
            ops::$op: Admits<E, A::Counts, ScalarKind>,
        {
            type Output = SparseTensor<Outcome<ops::$op, E, S, A>, S, N>;
            fn right_of_sparse(self, left: &SparseTensor<E, S, N>) -> Result<Self::Output> {
                scaled::<ops::$op, E, PromotedWith<E, S, A>, A, S, N>(left, &self)
            }
        }
    )*};
}
scalars_on_the_right!(mul div);

/// `Add add AddAssign add_assign` writes `sparse + R` and `sparse += R`.
macro_rules! operators {
    ($($Trait:ident $method:ident $try:ident $Assign:ident $assign:ident, $sign:literal;)*) => {$(
        #[doc = concat!("`a ", $sign, " b` of a sparse tensor; the other operand is what [`SparseTensor`](crate::SparseTensor) says.")]
        ///
        /// # Panics
        #[doc = concat!("Where sizes known at run time do not fit, or a scalar does not; [`", stringify!($try), "`](Tensor::", stringify!($try), ") returns the error.")]
        impl<E: Element, S: Shape, const N: usize, R: RightOfSparse<ops::$method, E, S, N>> $Trait<R> for &Tensor<E, S, Cpu, SparseCoo<N>> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output {
                unwrap(rhs.right_of_sparse(self))
            }
        }

        #[doc = concat!("`a ", $sign, " b` of a sparse tensor; the other operand is what [`SparseTensor`](crate::SparseTensor) says.")]
        ///
        /// # Panics
        #[doc = concat!("Where sizes known at run time do not fit, or a scalar does not; [`", stringify!($try), "`](Tensor::", stringify!($try), ") returns the error.")]
        impl<E: Element, S: Shape, const N: usize, R: RightOfSparse<ops::$method, E, S, N>> $Trait<R> for Tensor<E, S, Cpu, SparseCoo<N>> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, rhs: R) -> R::Output {
                unwrap(rhs.right_of_sparse(&self))
            }
        }

        #[doc = concat!("`a ", $sign, "= b` of a sparse tensor. The result must be sparse, of `a`'s shape, and castable to its dtype.")]
        ///
        /// # Panics
        /// Where sizes known at run time do not fit, or a scalar does not.
        impl<E: Element, S: Shape, const N: usize, R: RightOfSparse<ops::$method, E, S, N>> $Assign<R> for Tensor<E, S, Cpu, SparseCoo<N>>
        where
            R::Output: WrittenToSparse<E, S, N>,
        {
            #[track_caller]
            fn $assign(&mut self, rhs: R) {
                *self = unwrap(rhs.right_of_sparse(self).and_then(WrittenToSparse::written_to));
            }
        }

        impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
            #[doc = concat!("`a ", $sign, " b` of a sparse tensor (`torch.", stringify!($method), "`); the other operand is what [`SparseTensor`](crate::SparseTensor) says.")]
            ///
            /// # Panics
            /// Where sizes known at run time do not fit, or a scalar does not.
            #[fallible]
            pub fn $method<R: RightOfSparse<ops::$method, E, S, N>>(&self, rhs: R) -> Result<R::Output> {
                rhs.right_of_sparse(self)
            }
        }
    )*};
}
operators! {
    Add add try_add AddAssign add_assign, "+";
    Sub sub try_sub SubAssign sub_assign, "-";
    Mul mul try_mul MulAssign mul_assign, "*";
    Div div try_div DivAssign div_assign, "/";
}

/// `-a` of a sparse tensor: [`neg`](Tensor::neg).
impl<E: Dtype, S: Shape, const N: usize> Neg for &Tensor<E, S, Cpu, SparseCoo<N>>
where
    ops::neg: ops::UnaryOp<E>,
{
    type Output = SparseTensor<<ops::neg as ops::UnaryOp<E>>::Output, S, N>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        unwrap(self.try_neg())
    }
}
/// `-a` of a sparse tensor: [`neg`](Tensor::neg).
impl<E: Dtype, S: Shape, const N: usize> Neg for Tensor<E, S, Cpu, SparseCoo<N>>
where
    ops::neg: ops::UnaryOp<E>,
{
    type Output = SparseTensor<<ops::neg as ops::UnaryOp<E>>::Output, S, N>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        unwrap(self.try_neg())
    }
}

/// Writes `scalar * sparse` for each scalar type.
macro_rules! scalars_on_the_left {
    ($($scalar:ty),*) => {$(
        scalars_on_the_left!(@ $scalar, [] [&]);
    )*};
    (@ $scalar:ty, $([$($by:tt)*])*) => {$(
        #[cfg_attr(doc, doc(hidden))]
        /// `scalar * sparse`: only the scalar's category counts in promotion.
        impl<E: Dtype, S: Shape, const N: usize> Mul<$($by)* Tensor<E, S, Cpu, SparseCoo<N>>> for $scalar
        where
            ops::mul: Admits<E, <$scalar as Scalar>::Counts, ScalarKind>,
        {
            type Output = SparseTensor<Outcome<ops::mul, E, S, $scalar>, S, N>;
            #[track_caller]
            fn mul(self, rhs: $($by)* Tensor<E, S, Cpu, SparseCoo<N>>) -> Self::Output {
                unwrap(scaled::<ops::mul, E, PromotedWith<E, S, $scalar>, $scalar, S, N>(&rhs, &self))
            }
        }
    )*};
}
scalars_on_the_left!(bool, u8, i8, i16, i32, i64, u16, u32, u64, usize, isize);
scalars_on_the_left!(f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);
