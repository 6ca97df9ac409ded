//! Elementwise operations of two operands that write their result into an existing tensor: the left operand, or another one.

use crate::device::Device;
use crate::device::{Receives, Source};
use crate::dtype::{Castable as _, Dtype};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::BinaryOp;
use crate::ops::kernel::{Combining, CombiningRight, CombiningScalar, right_is_exact};
use crate::shape::{Broadcast, Shape, WrittenTo, broadcast_sizes};
use crate::tensor::Tensor;
use crate::tensor::base::operand::{Operand, OperandSource};
use crate::tensor::elementwise::apply::{PromotedWith, check_divisors, is_scalar, right_scalar, right_value};

/// Checks that a result of `sizes` has the sizes of the output.
fn expect_output(op: &'static str, result: &[usize], output: &[usize]) -> Result<()> {
    if result == output { Ok(()) } else { Err(Error::Output { op, result: result.into(), output: output.into() }) }
}

/// `lhs = Op(lhs, rhs)`, the result converted to the dtype of `lhs`, which the caller's bounds allow. Nothing is written if there is an
/// error.
pub(crate) fn update<O, E, S, D, R>(lhs: &mut Tensor<E, S, D>, rhs: &R) -> Result<()>
where
    O: BinaryOp,
    E: Dtype,
    S: Shape + Broadcast<R::Shape>,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
    D: Device + Receives<R::Place, R::Kind>,
    R: Operand,
{
    update_as::<O, E, PromotedWith<E, S, R>, S, D, R>(lhs, rhs)
}

fn update_as<O, E, P, S, D, R>(lhs: &mut Tensor<E, S, D>, rhs: &R) -> Result<()>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    S: Shape,
    D: Device + Receives<R::Place, R::Kind>,
    R: Operand,
{
    let exact = const { right_is_exact::<O, P, S::Kind, R::Kind>() };
    if const { is_scalar::<R>() } {
        let OperandSource::Scalar(value) = rhs.source() else { unreachable!("a scalar has a value") };
        let value = right_scalar::<O, P>(lhs.shape().as_ref(), value, E::DTYPE, exact)?;
        return D::update1(CombiningScalar::<O, P>(value), lhs.elements_mut()?);
    }
    let OperandSource::View(right) = rhs.source() else { unreachable!("a tensor has elements") };
    let right = <D as Receives<R::Place, R::Kind>>::right(right)?;
    if const { <D as Receives<R::Place, R::Kind>>::IS_VALUE } {
        let Source::Value(value) = right else { unreachable!("the operand is moved") };
        let value = right_value::<O, P, _>(lhs.shape().as_ref(), value, exact)?;
        return D::update1(CombiningRight::<O, P>(value), lhs.elements_mut()?);
    }
    let Source::View(right) = right else { unreachable!("the operand is where the result is") };
    check_divisors::<O, P, D, R::Elem>(lhs.shape().as_ref(), right)?;
    let sizes = lhs.shape();
    if !exact && right.sizes == sizes.as_ref() {
        return D::update2(Combining::<O, P>::new(), right, lhs.elements_mut()?);
    }
    let mut result = sizes;
    let broadcasts = right.sizes.len() <= S::RANK && broadcast_sizes(sizes.as_ref(), right.sizes, result.as_mut());
    if !broadcasts {
        return Err(Error::Broadcast { op: O::NAME, lhs: sizes.as_ref().into(), rhs: right.sizes.into() });
    }
    expect_output(O::NAME, result.as_ref(), sizes.as_ref())?;
    if const { right_is_exact::<O, P, S::Kind, R::Kind>() }
        && let Some(value) = D::peek_free(right)
    {
        return D::update1(CombiningRight::<O, P>(value.cast()), lhs.elements_mut()?);
    }
    let strides = strides::broadcast(right.sizes, right.strides, &sizes);
    D::update2(Combining::<O, P>::new(), right.restrided(sizes.as_ref(), strides.as_ref()), lhs.elements_mut()?)
}

/// `out = Op(lhs, rhs)`, the result converted to the dtype of `out`, which the caller's bounds allow. Nothing is written if there is an
/// error.
pub(crate) fn combine_into<O, E, S, D, R, F, T>(lhs: &Tensor<E, S, D>, rhs: &R, out: &mut Tensor<F, T, D>) -> Result<()>
where
    O: BinaryOp,
    E: Dtype,
    F: Dtype,
    S: Shape + Broadcast<R::Shape>,
    T: Shape,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<T>,
    D: Device + Receives<R::Place, R::Kind>,
    R: Operand,
{
    combine_into_as::<O, E, PromotedWith<E, S, R>, S, D, R, F, T>(lhs, rhs, out)
}

fn combine_into_as<O, E, P, S, D, R, F, T>(lhs: &Tensor<E, S, D>, rhs: &R, out: &mut Tensor<F, T, D>) -> Result<()>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    F: Dtype,
    S: Shape,
    T: Shape,
    D: Device + Receives<R::Place, R::Kind>,
    R: Operand,
{
    let exact = const { right_is_exact::<O, P, S::Kind, R::Kind>() };
    let left = lhs.elements();
    let sizes = out.shape();
    if const { is_scalar::<R>() } {
        let OperandSource::Scalar(value) = rhs.source() else { unreachable!("a scalar has a value") };
        let value = right_scalar::<O, P>(left.sizes, value, E::DTYPE, exact)?;
        expect_output(O::NAME, left.sizes, sizes.as_ref())?;
        return D::map1_into(CombiningScalar::<O, P>(value), left, out.elements_mut()?);
    }
    let OperandSource::View(right) = rhs.source() else { unreachable!("a tensor has elements") };
    let right = <D as Receives<R::Place, R::Kind>>::right(right)?;
    if const { <D as Receives<R::Place, R::Kind>>::IS_VALUE } {
        let Source::Value(value) = right else { unreachable!("the operand is moved") };
        let value = right_value::<O, P, _>(left.sizes, value, exact)?;
        expect_output(O::NAME, left.sizes, sizes.as_ref())?;
        return D::map1_into(CombiningRight::<O, P>(value), left, out.elements_mut()?);
    }
    let Source::View(right) = right else { unreachable!("the operand is where the result is") };
    check_divisors::<O, P, D, R::Elem>(left.sizes, right)?;
    if !exact && left.sizes == right.sizes && left.sizes == sizes.as_ref() {
        return D::map2_into(Combining::<O, P>::new(), left, right, out.elements_mut()?);
    }
    let mut result = vec![0; left.sizes.len().max(right.sizes.len())];
    if !broadcast_sizes(left.sizes, right.sizes, &mut result) {
        return Err(Error::Broadcast { op: O::NAME, lhs: left.sizes.into(), rhs: right.sizes.into() });
    }
    expect_output(O::NAME, &result, sizes.as_ref())?;
    let from = strides::broadcast(left.sizes, left.strides, &sizes);
    let left = left.restrided(sizes.as_ref(), from.as_ref());
    if const { right_is_exact::<O, P, S::Kind, R::Kind>() }
        && let Some(value) = D::peek_free(right)
    {
        return D::map1_into(CombiningRight::<O, P>(value.cast()), left, out.elements_mut()?);
    }
    let from_right = strides::broadcast(right.sizes, right.strides, &sizes);
    let right = right.restrided(sizes.as_ref(), from_right.as_ref());
    D::map2_into(Combining::<O, P>::new(), left, right, out.elements_mut()?)
}
