//! Reuse of an operand's memory: `a + b` overwrites an `a` that is passed by value and shares its storage with no other tensor. This saves
//! an allocation, and the memory is already in the caches.

use crate::device::{Device, Meet, Source};
use crate::dtype::{Dtype, Element, ScalarValue};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::BinaryOp;
use crate::ops::kernel::{Combining, CombiningRight, CombiningScalar, ComputeOf, Map1, right_is_exact};
use crate::shape::{Broadcast, Shape, SizeArray, broadcast_sizes};
use crate::storage::ViewMut;
use crate::tensor::Tensor;
use crate::tensor::base::operand::{Operand, OperandSource};
use crate::tensor::elementwise::apply::{
    Outcome, PromotedWith, check_divisors, combine, combine_as, combine_scalar, is_scalar, right_scalar, right_value,
    scalar_operand,
};
use core::any::{Any, TypeId};

/// Whether a result may have the memory of an operand; if not, how it would be overwritten is not compiled.
const fn is_same_dtype<E: Element, Out: Element>() -> bool {
    E::DTYPE as u8 == Out::DTYPE as u8
}

/// The sizes, strides and number of elements of this tensor, if a result of dtype `Out` on device `X` may overwrite it: it has the same
/// dtype and device, and is the whole of a row-major storage that is not shared.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn reusable<E: Element, Out: Element, S: Shape, D: Device, X: Device>(
    x: &mut Tensor<E, S, D>,
) -> Option<(S::Sizes, S::Sizes, usize)> {
    if TypeId::of::<(E, D)>() != TypeId::of::<(Out, X)>() || x.parts.offset != 0 {
        return None;
    }
    let whole = strides::row_major_alike::<1, S>([(x.parts.sizes.as_ref(), x.parts.strides.as_ref())])?;
    (D::holds::<E>(&x.parts.storage, whole.2) && D::is_unique(&mut x.parts.storage)).then_some(whole)
}

/// A storage of `D` as that of `X`, which is the same device as another type parameter.
#[inline]
fn as_same_device<D: Device, X: Device>(storage: D::Storage) -> X::Storage {
    let mut storage = Some(storage);
    let same = (&mut storage as &mut dyn Any).downcast_mut::<Option<X::Storage>>().and_then(Option::take);
    same.unwrap_or_else(|| unreachable!("`reusable` has compared the devices"))
}

/// `Op(lhs, rhs)` for a scalar on the left, written over `rhs` if its memory can be reused; see
/// [`combine_scalar`](crate::tensor::elementwise::apply::combine_scalar).
pub(crate) fn combine_scalar_owned<O, E, P, S, D, K>(
    lhs: ScalarValue,
    mut rhs: Tensor<E, S, D>,
    exact: bool,
    kernel: impl FnOnce(ComputeOf<O, P>) -> K,
) -> Result<Tensor<O::Output<P>, S, D>>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    S: Shape,
    D: Device,
    K: Map1<E, O::Output<P>> + Map1<O::Output<P>, O::Output<P>>,
{
    if const { !is_same_dtype::<E, O::Output<P>>() } {
        return combine_scalar::<O, E, P, S, D, K>(lhs, &rhs, exact, kernel);
    }
    let Some((sizes, strides, len)) = reusable::<E, O::Output<P>, S, D, D>(&mut rhs) else {
        return combine_scalar::<O, E, P, S, D, K>(lhs, &rhs, exact, kernel);
    };
    check_divisors::<O, P, D, E>(&[], rhs.elements())?;
    let kernel = kernel(scalar_operand::<O, P>(lhs, P::DTYPE, exact && !P::DTYPE.is_complex())?);
    let mut storage = rhs.parts.storage;
    D::update1_line(kernel, ViewMut::<_, O::Output<P>>::new(&mut storage, 0, sizes.as_ref(), strides.as_ref()), len)?;
    Ok(Tensor::from_parts(storage, 0, sizes, strides))
}

/// `Op(lhs, rhs)`, written over `lhs` if its memory can be reused.
#[inline]
pub(crate) fn combine_owned<O, E, S, D, R, T, X>(
    mut lhs: Tensor<E, S, D>,
    rhs: &R,
) -> Result<Tensor<Outcome<O, E, S, R>, T, X>>
where
    O: BinaryOp,
    E: Dtype,
    S: Shape + Broadcast<R::Shape, Output = T>,
    D: Device + Meet<R::Place, S::Kind, R::Kind, Output = X>,
    R: Operand,
    T: Shape,
    X: Device,
{
    if const { T::RANK == S::RANK && is_same_dtype::<E, Outcome<O, E, S, R>>() }
        && let Some(whole) = reusable::<E, Outcome<O, E, S, R>, S, D, X>(&mut lhs)
    {
        // The storage alone: moving a whole tensor would write it to memory and read it again.
        return combine_over::<O, E, PromotedWith<E, S, R>, S, D, R, T, X>(lhs.parts.storage, whole, rhs);
    }
    combine::<O, E, S, D, R, T, X>(&lhs, rhs)
}

/// `Op(lhs, rhs)` written over `lhs`, which is the `whole` storage. Small enough to be inlined for operands of one layout.
#[inline]
fn combine_over<O, E, P, S, D, R, T, X>(
    storage: D::Storage,
    whole: (S::Sizes, S::Sizes, usize),
    rhs: &R,
) -> Result<Tensor<O::Output<P>, T, X>>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    S: Shape + Broadcast<R::Shape, Output = T>,
    D: Device + Meet<R::Place, S::Kind, R::Kind, Output = X>,
    R: Operand,
    T: Shape,
    X: Device,
{
    let (sizes, own, len) = whole;
    if const { !is_scalar::<R>() && !<D as Meet<R::Place, S::Kind, R::Kind>>::RIGHT_IS_VALUE }
        && let OperandSource::View(view) = rhs.source()
        && let Source::View(right) = <D as Meet<R::Place, S::Kind, R::Kind>>::right(view)?
        && right.sizes == sizes.as_ref()
        && right.strides == own.as_ref()
    {
        check_divisors::<O, P, X, R::Elem>(sizes.as_ref(), right)?;
        let mut storage = as_same_device::<D, X>(storage);
        let out = ViewMut::<_, O::Output<P>>::new(&mut storage, 0, sizes.as_ref(), own.as_ref());
        // The overwritten operand is contiguous.
        X::update2_line(Combining::<O, P>::new(), right, out, len)?;
        return Ok(Tensor::whole(storage, T::Sizes::copied(sizes.as_ref()), T::Sizes::copied(own.as_ref()), len));
    }
    combine_unlike_over::<O, E, P, S, D, R, T, X>(storage, whole, rhs)
}

/// [`combine_over`] with an operand of any kind and layout.
#[inline(never)]
fn combine_unlike_over<O, E, P, S, D, R, T, X>(
    storage: D::Storage,
    whole: (S::Sizes, S::Sizes, usize),
    rhs: &R,
) -> Result<Tensor<O::Output<P>, T, X>>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    S: Shape + Broadcast<R::Shape, Output = T>,
    D: Device + Meet<R::Place, S::Kind, R::Kind, Output = X>,
    R: Operand,
    T: Shape,
    X: Device,
{
    let (sizes, own, len) = whole;
    let exact = const { right_is_exact::<O, P, S::Kind, R::Kind>() };
    let over = |mut storage: X::Storage, update: &dyn Fn(ViewMut<'_, X::Storage, O::Output<P>>) -> Result<()>| {
        update(ViewMut::new(&mut storage, 0, sizes.as_ref(), own.as_ref()))?;
        Ok(Tensor::whole(storage, T::Sizes::copied(sizes.as_ref()), T::Sizes::copied(own.as_ref()), len))
    };
    // The overwritten operand is contiguous.
    if const { is_scalar::<R>() } {
        let OperandSource::Scalar(value) = rhs.source() else { unreachable!("a scalar has a value") };
        let value = right_scalar::<O, P>(sizes.as_ref(), value, E::DTYPE, exact)?;
        return over(as_same_device::<D, X>(storage), &|out| X::update1_line(CombiningScalar::<O, P>(value), out, len));
    }
    let OperandSource::View(right) = rhs.source() else { unreachable!("a tensor has elements") };
    let right = <D as Meet<R::Place, S::Kind, R::Kind>>::right(right)?;
    if const { <D as Meet<R::Place, S::Kind, R::Kind>>::RIGHT_IS_VALUE } {
        let Source::Value(value) = right else { unreachable!("the right operand is moved to the left one") };
        let value = right_value::<O, P, _>(sizes.as_ref(), value, exact)?;
        return over(as_same_device::<D, X>(storage), &|out| X::update1_line(CombiningRight::<O, P>(value), out, len));
    }
    let Source::View(right) = right else { unreachable!("both operands are where the result is") };
    let mut broadcast = S::Sizes::filled(0);
    if exact || !result_has_left_layout::<S>(&sizes, &own, right.sizes, right.strides, &mut broadcast) {
        let lhs = Tensor::<E, S, D>::whole(storage, sizes, own, len);
        return combine_as::<O, E, P, S, D, R, T, X>(&lhs, rhs);
    }
    check_divisors::<O, P, X, R::Elem>(sizes.as_ref(), right)?;
    let right = right.restrided(sizes.as_ref(), broadcast.as_ref());
    over(as_same_device::<D, X>(storage), &|out| X::update2(Combining::<O, P>::new(), right, out))
}

/// Whether a result has the sizes and strides of the left operand; if so, the strides for reading the right one.
fn result_has_left_layout<S: Shape>(
    sizes: &S::Sizes,
    own: &S::Sizes,
    right: &[usize],
    right_strides: &[usize],
    broadcast: &mut S::Sizes,
) -> bool {
    let mut result = *sizes;
    if right.len() > S::RANK || !broadcast_sizes(sizes.as_ref(), right, result.as_mut()) || result != *sizes {
        return false;
    }
    *broadcast = strides::broadcast(right, right_strides, sizes);
    strides::elementwise_result(sizes, &[*own, *broadcast], right == sizes.as_ref()) == *own
}
