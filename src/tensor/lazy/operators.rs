//! Rust's operators on lazy expressions, with expressions, tensors and scalars on either side, and the assigning forms.

use super::operand::{LazyOutcome, RightOfLazy};
use super::{Applied1, Extent, Held, Lazy, Node};
use crate::Tensor;
use crate::device::Device;
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::ScalarKind;
use crate::dtype::{CanCast, Complex, Dtype, Scalar, bf16, f16};
use crate::error::{Error, Result};
use crate::ops::kernel::{Applying, Casting, CombiningKinds, CombiningLeft, DividingScalar};
use crate::ops::{self, BinaryOp, UnaryOp};
use crate::shape::{Broadcast, Shape, WrittenTo};
use crate::tensor::base::assign::{AssignedFrom, Inside};
use crate::tensor::elementwise::apply::scalar_operand;
use crate::tensor::elementwise::methods::Admits;
use crate::tensor::elementwise::operators::{AssignedTo, RightOf};
use core::ops::*;

macro_rules! operators {
    ($($Trait:ident $method:ident = $op:ident, $sign:literal;)*) => {$(
        #[doc = concat!("`a ", $sign, " b`: [`", stringify!($op), "`](Lazy::", stringify!($op), ").")]
        impl<E: Dtype, S: Shape, D: Device, X, R: RightOfLazy<ops::$op, E, S, D, X>> $Trait<R> for Lazy<E, S, D, X> {
            type Output = R::Output;
            fn $method(self, rhs: R) -> R::Output {
                rhs.right_of(self)
            }
        }
    )*};
}
operators! {
    Add add = add, "+";
    Sub sub = sub, "-";
    Mul mul = mul, "*";
    Div div = div, "/";
    Rem rem = remainder, "%";
    BitAnd bitand = bitwise_and, "&";
    BitOr bitor = bitwise_or, "|";
    BitXor bitxor = bitwise_xor, "^";
    Shl shl = bitwise_left_shift, "<<";
    Shr shr = bitwise_right_shift, ">>";
}

macro_rules! unary_operators {
    ($($Trait:ident $method:ident = $op:ident, $sign:literal;)*) => {$(
        #[doc = concat!("`", $sign, "a`: [`", stringify!($op), "`](Lazy::", stringify!($op), ").")]
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> $Trait for Lazy<E, S, D, X>
        where
            ops::$op: UnaryOp<E>,
        {
            type Output = Lazy<
                <ops::$op as UnaryOp<E>>::Output,
                S,
                D,
                Applied1<Applying<ops::$op>, X, <ops::$op as UnaryOp<E>>::Output>,
            >;
            fn $method(self) -> Self::Output {
                self.map(Ok(Applying::new()))
            }
        }
    )*};
}
unary_operators! {
    Neg neg = neg, "-";
    Not not = bitwise_not, "!";
}

/// A tensor that is an operand of an expression becomes a leaf of it.
impl<Op, E, S, D, F, T, X> RightOf<Op, E, S, D> for Lazy<F, T, D, X>
where
    E: Dtype,
    S: Shape + Broadcast<T>,
    D: Device,
    F: Dtype,
    T: Shape,
    X: Node<D, Elem = F>,
    Op: BinaryOp + Admits<E, F, T::Kind>,
{
    type Output = <Self as RightOfLazy<Op, E, S, D, Held<E, S, D>>>::Output;
    fn right_of(self, left: &Tensor<E, S, D>) -> Result<Self::Output> {
        let extent = Extent { sizes: left.shape(), strides: left.stride() };
        Ok(<Self as RightOfLazy<Op, E, S, D, _>>::right_of(self, Lazy::new(Held(left.clone()), extent)))
    }
}

/// `x += expression`: in one pass; nothing is written if there is an error.
impl<Op, E, S, D, F, T, X> AssignedTo<Op, E, S, D> for Lazy<F, T, D, X>
where
    E: Dtype,
    S: Shape + Broadcast<T>,
    <S as Broadcast<T>>::Output: WrittenTo<S>,
    D: Device,
    F: Dtype,
    T: Shape,
    X: Node<D, Elem = F>,
    Op: BinaryOp + Admits<E, F, T::Kind>,
    LazyOutcome<Op, E, S, D, Self>: CanCast<E>,
{
    fn assigned_to(self, left: &mut Tensor<E, S, D>, _: Inside) -> Result<()> {
        update::<Op, E, ResultType<S::Kind, E, T::Kind, F>, S, D, F, T, X>(left, self)
    }
}

fn update<Op: BinaryOp, E: Dtype, P: Dtype, S: Shape, D: Device, F: Dtype, T: Shape, X: Node<D, Elem = F>>(
    left: &mut Tensor<E, S, D>,
    right: Lazy<F, T, D, X>,
) -> Result<()> {
    let (node, extent) = right.parts?;
    let sizes = left.shape();
    fits(Op::NAME, extent.sizes.as_ref(), sizes.as_ref())?;
    #[cfg(feature = "grad")]
    if const { D::RECORDS } {
        let y = node.each(sizes.as_ref())?;
        super::check_each::<Op, P, D, _>(&y, sizes.as_ref())?;
        let y = y.0.expand(Op::NAME, sizes.as_ref())?;
        return D::update2(CombiningKinds::<Op, P, S::Kind, T::Kind>::new(), y.view(), left.elements_mut()?);
    }
    // SAFETY: the expression was made for the sizes of `left`, and the node holds its tensors. None of these is written: `left` is borrowed
    // exclusively, and storage that is shared with it is copied before.
    unsafe {
        let y = node.expression(sizes.as_ref())?;
        // Divisors are checked when an expression is built; here the operation is not part of one.
        super::check_divisors::<Op, P, D, _>(y, sizes.as_ref())?;
        let left = left.elements_mut()?;
        D::fused(E::DTYPE, sizes.as_ref(), None, || {
            D::evaluate_update(CombiningKinds::<Op, P, S::Kind, T::Kind>::new(), y, left)
        })
    }
}

/// Checks that a result of these sizes broadcasts to the output's.
pub(super) fn fits(op: &'static str, result: &[usize], output: &[usize]) -> Result<()> {
    let fits = result.len() <= output.len()
        && result.iter().rev().zip(output.iter().rev()).all(|(&from, &to)| from == to || from == 1);
    if fits { Ok(()) } else { Err(Error::Output { op, result: result.into(), output: output.into() }) }
}

/// `x.assign(expression)`
#[diagnostic::do_not_recommend]
impl<E, S, D, F, T, X> AssignedFrom<E, S, D> for Lazy<F, T, D, X>
where
    E: Dtype,
    S: Shape + Broadcast<T>,
    <S as Broadcast<T>>::Output: WrittenTo<S>,
    D: Device,
    F: Dtype + CanCast<E>,
    T: Shape,
    X: Node<D, Elem = F>,
{
    fn assigned_from(self, to: &mut Tensor<E, S, D>, _: Inside) -> Result<()> {
        self.written_into(to, "assign")
    }
}
impl<F: Dtype, T: Shape, D: Device, X: Node<D, Elem = F>> Lazy<F, T, D, X> {
    /// Writes the elements, converted, into a tensor that they broadcast to.
    pub(super) fn written_into<E: Dtype, S: Shape>(self, to: &mut Tensor<E, S, D>, op: &'static str) -> Result<()> {
        let (node, extent) = self.parts?;
        let sizes = to.shape();
        fits(op, extent.sizes.as_ref(), sizes.as_ref())?;
        #[cfg(feature = "grad")]
        if const { D::RECORDS } {
            let x = node.each(sizes.as_ref())?.0;
            return D::map1_into::<F, E>(Casting, x.expand(op, sizes.as_ref())?.view(), to.elements_mut()?);
        }
        // SAFETY: as in `update`.
        unsafe {
            let x = node.expression(sizes.as_ref())?;
            let to = to.elements_mut()?;
            D::fused(E::DTYPE, sizes.as_ref(), None, || {
                D::evaluate_into(ops::expression::Mapped1::<_, _, E>::new(Casting, x), to)
            })
        }
    }
}

/// The promoted dtype of a scalar of dtype `A` on the left and an expression of shape `S` and dtype `E`.
type PromotedLeft<A, E, S> = ResultType<ScalarKind, A, <S as Shape>::Kind, E>;

/// For each scalar type and operator it writes `scalar + Lazy`.
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
        #[doc = concat!("`scalar ", $sign, " expression`: the scalar counts in promotion by its category alone.")]
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> $Trait<Lazy<E, S, D, X>> for $scalar
        where
            ops::$op: Admits<<$scalar as Scalar>::Counts, E, S::Kind>,
        {
            type Output = Lazy<
                <ops::$op as BinaryOp>::Output<PromotedLeft<<$scalar as Scalar>::Counts, E, S>>,
                S,
                D,
                Applied1<
                    scalars_on_the_left!(@kernel $kernel $op <$scalar as Scalar>::Counts, E, S),
                    Checked<ops::$op, PromotedLeft<<$scalar as Scalar>::Counts, E, S>, X>,
                    <ops::$op as BinaryOp>::Output<PromotedLeft<<$scalar as Scalar>::Counts, E, S>>,
                >,
            >;
            fn $method(self, rhs: Lazy<E, S, D, X>) -> Self::Output {
                type P<E, S> = PromotedLeft<<$scalar as Scalar>::Counts, E, S>;
                let exact = scalars_on_the_left!(@exact $kernel) && !<P<E, S> as crate::Element>::DTYPE.is_complex();
                let value = scalar_operand::<ops::$op, P<E, S>>(self.value(), <P<E, S> as crate::Element>::DTYPE, exact);
                Lazy::of(rhs.parts.and_then(|(x, extent)| {
                    let applied = Applied1 { kernel: $kernel(value?), x: Checked::new(x), result: core::marker::PhantomData };
                    Ok((applied, extent.beside_scalar(extent.sizes)))
                }))
            }
        }
    )*};
    (@exact CombiningLeft) => { false };
    (@exact DividingScalar) => { true };
    (@kernel CombiningLeft $op:ident $a:ty, $e:ident, $s:ident) => { CombiningLeft<ops::$op, PromotedLeft<$a, $e, $s>> };
    (@kernel DividingScalar $op:ident $a:ty, $e:ident, $s:ident) => {
        DividingScalar<<ops::$op as BinaryOp>::Computes<PromotedLeft<$a, $e, $s>>>
    };
}
scalars_on_the_left!(bool, u8, i8, i16, i32, i64, u16, u32, u64, usize, isize);
scalars_on_the_left!(f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);

/// A divisor of `Op`, in the dtype `P`.
pub struct Checked<Op, P, X>(X, core::marker::PhantomData<fn() -> (Op, P)>);
impl<Op, P, X> Checked<Op, P, X> {
    fn new(x: X) -> Self {
        Checked(x, core::marker::PhantomData)
    }
}
impl<Op, P, X: Clone> Clone for Checked<Op, P, X> {
    fn clone(&self) -> Self {
        Checked::new(self.0.clone())
    }
}
impl<D: Device, Op: BinaryOp, P: Dtype, X: Node<D>> Node<D> for Checked<Op, P, X> {
    type Elem = X::Elem;
    type Expression = X::Expression;
    #[cfg(feature = "grad")]
    fn each(&self, sizes: &[usize]) -> Result<super::Steps<'_, X::Elem, D>> {
        let x = self.0.each(sizes)?;
        super::check_each::<Op, P, D, _>(&x, sizes)?;
        Ok(x)
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<X::Expression> {
        // SAFETY: the caller's promise; the tensors are here.
        unsafe {
            let x = self.0.expression(sizes)?;
            super::check_divisors::<Op, P, D, _>(x, sizes)?;
            Ok(x)
        }
    }
}
