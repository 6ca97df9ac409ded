//! Runs an elementwise operation: broadcasts shapes, promotes dtypes, matches devices, calls the device's loop. The methods,
//! operators, in-place and `_into` forms are thin wrappers of the functions here.

use crate::device::{Device, Meet, Receives, Source};
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::{Kind as _, KindRank};
use crate::dtype::{Castable, DType, Dtype, Element, ScalarValue};
use crate::error::{Error, Result};
use crate::layout::dims::Dims;
use crate::layout::memory_format::write_elementwise_walk;
use crate::layout::strides;
use crate::ops::BinaryOp;
use crate::ops::arguments::Sought;
use crate::ops::kernel::{
    Combining, CombiningLeft, CombiningRight, CombiningScalar, ComputeOf, Map1, Map2, Map3, operand, right_is_exact,
};
use crate::ops::rules::special::Specials;
use crate::shape::{Broadcast, Shape, SizeArray, broadcast_sizes};
use crate::storage::View;
use crate::tensor::base::operand::{Operand, OperandSource};
use crate::tensor::{Tensor, checked_numel, expect_fit};

/// The dtype that a tensor of shape `S` and dtype `E` and the operand `R` promote to.
pub type PromotedWith<E, S, R> = ResultType<<S as Shape>::Kind, E, <R as Operand>::Kind, <R as Operand>::Elem>;

/// The dtype of `Op` on a tensor of shape `S` and dtype `E` and the operand `R`.
pub type Outcome<Op, E, S, R> = <Op as BinaryOp>::Output<PromotedWith<E, S, R>>;

/// The shape to which a tensor of shape `S` and the operand `R` broadcast.
pub type OutcomeShape<S, R> = <S as Broadcast<<R as Operand>::Shape>>::Output;

/// The device of an operation on a tensor of shape `S` on device `D` and the operand `R`.
pub type OutcomeDevice<D, S, R> = <D as Meet<<R as Operand>::Place, <S as Shape>::Kind, <R as Operand>::Kind>>::Output;

/// A scalar operand of a tensor of dtype `own`, converted to the dtype in which `Op` computes for the promoted dtype `P`.
///
/// An integer that does not fit an integral dtype is refused (PyTorch wraps it silently in arithmetic and comparison,
/// and refuses it in `full`, `clamp` and `where`).
pub(crate) fn scalar_operand<O: BinaryOp, P: Dtype>(
    value: ScalarValue,
    own: DType,
    exact: bool,
) -> Result<ComputeOf<O, P>> {
    fitted_scalar::<P, O::Computes<P>>(O::NAME, O::CHECKS_FLOAT_SCALARS, value, own, exact)
}

/// [`scalar_operand`] for two dtypes, compiled once for all operations.
pub(crate) fn fitted_scalar<P: Dtype, C: Dtype>(
    op: &'static str,
    checks_floats: bool,
    value: ScalarValue,
    own: DType,
    exact: bool,
) -> Result<C::Compute> {
    let beyond = |dtype| Error::ScalarOutOfRange { op, value, dtype };
    // An integer beyond `int64` is a `uint64` in PyTorch, which does not promote with bool.
    if own == DType::Bool && matches!(value, ScalarValue::Int(v) if i64::try_from(v).is_err()) {
        return Err(beyond(DType::I64));
    }
    if checks_floats {
        value.to_element::<P>().ok_or(beyond(P::DTYPE))?;
    }
    let fitted = if exact { value.to_dtype::<C::Compute>() } else { value.to_dtype::<C>().map(Dtype::to_compute) };
    fitted.ok_or(beyond(P::DTYPE))
}

/// Whether an integer division by zero is an error: not if there are no elements to divide.
#[inline]
pub(crate) fn refuses_zeros(divides: bool, dtype: DType, divided: &[usize]) -> bool {
    divides && dtype.category() <= crate::Category::Integral && !divided.contains(&0)
}

/// Whether an operand is a scalar and no tensor.
pub(crate) const fn is_scalar<R: Operand>() -> bool {
    matches!(R::Kind::RANK, KindRank::Scalar)
}

/// Whether an operand is a single value for an operation that writes to a tensor on `D`.
pub(crate) const fn is_value<R: Operand, D: Device + Receives<R::Place, R::Kind>>() -> bool {
    is_scalar::<R>() || <D as Receives<R::Place, R::Kind>>::IS_VALUE
}

/// Checks the integer divisors of an operand of these sizes for zeros.
pub(crate) fn check_divisors<O: BinaryOp, P: Dtype, D: Device, B: Element + Castable>(
    divided: &[usize],
    divisors: View<'_, D::Storage, B>,
) -> Result<()> {
    if const { O::DIVIDES && P::DTYPE.category() as u8 <= crate::Category::Integral as u8 }
        && !divided.contains(&0)
        && D::has(divisors, Sought::Zero)?
    {
        return Err(Error::DivisionByZero { op: O::NAME, dtype: P::DTYPE });
    }
    Ok(())
}
fn check_divisor<O: BinaryOp, P: Dtype>(divided: &[usize], divisor: ComputeOf<O, P>) -> Result<()> {
    if refuses_zeros(O::DIVIDES, P::DTYPE, divided) && divisor == Default::default() {
        return Err(Error::DivisionByZero { op: O::NAME, dtype: P::DTYPE });
    }
    Ok(())
}

/// Checks that a scalar exponent of integers is not negative: PyTorch refuses it, although tensors of exponents may contain negative ones.
pub(crate) fn check_exponent(specials: Specials, dtype: DType, exponent: ScalarValue) -> Result<()> {
    if specials.raises_to_scalar
        && dtype.category() <= crate::Category::Integral
        && matches!(exponent, ScalarValue::Int(exponent) if exponent < 0)
    {
        return Err(Error::NegativePower { dtype, exponent });
    }
    Ok(())
}

/// A scalar to the right of a tensor of these sizes and of dtype `own`, checked and converted to the computing dtype of `Op` for `P`.
pub(crate) fn right_scalar<O: BinaryOp, P: Dtype>(
    left: &[usize],
    value: ScalarValue,
    own: DType,
    exact: bool,
) -> Result<ComputeOf<O, P>> {
    check_exponent(O::SPECIALS, P::DTYPE, value)?;
    let value = scalar_operand::<O, P>(value, own, exact)?;
    check_divisor::<O, P>(left, value)?;
    Ok(value)
}

/// The single element of a tensor to the right of one of these sizes, checked and converted to the computing dtype of `Op` for `P`.
pub(crate) fn right_value<O: BinaryOp, P: Dtype, B: Castable>(
    left: &[usize],
    value: B,
    exact: bool,
) -> Result<ComputeOf<O, P>> {
    let value = if exact { value.cast() } else { operand::<O, P, B>(value) };
    check_divisor::<O, P>(left, value)?;
    Ok(value)
}

/// The broadcast sizes; checks at run time those that the types leave open, and that memory can hold the result of dtype `Out`.
pub(crate) fn broadcast<T: Shape, Out: Element>(op: &'static str, a: &[usize], b: &[usize]) -> Result<T::Sizes> {
    let mut sizes = T::Sizes::filled(1);
    if !broadcast_sizes(a, b, sizes.as_mut()) {
        return Err(Error::Broadcast { op, lhs: a.into(), rhs: b.into() });
    }
    expect_fit::<T>(op, sizes.as_ref())?;
    checked_numel::<Out>(op, sizes.as_ref())?;
    Ok(sizes)
}

/// [`broadcast`] of any number of operands.
pub(crate) fn broadcast_all<T: Shape, Out: Element>(op: &'static str, of: &[&[usize]]) -> Result<T::Sizes> {
    let rank = of.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
    let mut joined = vec![1; rank];
    for sizes in of {
        let mut next = vec![1; rank];
        if !broadcast_sizes(&joined, sizes, &mut next) {
            return Err(Error::Broadcast { op, lhs: joined[..].into(), rhs: (*sizes).into() });
        }
        joined = next;
    }
    broadcast::<T, Out>(op, &joined, &joined)
}

/// An operand's strides broadcast to the sizes of the result, for the strides of the result.
pub(crate) fn layout<A: SizeArray>(from: &[usize], strides: &[usize], sizes: &A, is_common: bool) -> A {
    if !is_common {
        return strides::converted(from, strides, sizes);
    }
    strides::broadcast(from, strides, sizes)
}

/// The strides with which `N` operands are read, broadcast to their result, and those of the result.
struct Walked<const N: usize> {
    from: [Dims; N],
    to: Dims,
}
impl<const N: usize> Walked<N> {
    /// Of operands, each with its sizes, its strides and whether it is converted: PyTorch converts to the common dtype before it compares
    /// layouts.
    #[inline]
    fn new(sizes: &[usize], operands: [(&[usize], &[usize], bool); N], alike: bool) -> Self {
        let none = Dims::alike(sizes);
        let mut walked = Walked { from: [none; N], to: none };
        write_elementwise_walk(sizes, &operands, alike, &mut walked.from, &mut walked.to);
        walked
    }
}

/// Sizes, strides, and whether it is converted to the `common` dtype.
#[inline]
fn layout_of<'a, B, E: Element>(view: &View<'a, B, E>, common: DType) -> (&'a [usize], &'a [usize], bool) {
    (view.sizes, view.strides, E::DTYPE != common)
}

/// `kernel(view)` as a new tensor of the given sizes; other operands are scalars in the kernel.
#[inline]
pub(crate) fn map1<A: Element, T: Shape, D: Device, Out: Element>(
    kernel: impl Map1<A, Out>,
    view: View<'_, D::Storage, A>,
    sizes: T::Sizes,
    common: DType,
) -> Result<Tensor<Out, T, D>> {
    if let Some((sizes, strides, len)) = strides::row_major_alike::<1, T>([(view.sizes, view.strides)]) {
        return Ok(Tensor::whole(D::map1_line(kernel, view, len)?, sizes, strides, len));
    }
    let of = sizes.as_ref();
    let Walked { from: [from], to } = Walked::new(of, [layout_of(&view, common)], false);
    let storage = D::map1(kernel, view.restrided(of, &from), &to)?;
    Ok(Tensor::from_parts(storage, 0, sizes, T::Sizes::copied(&to)))
}

/// `kernel(a, b)` as a new tensor.
pub(crate) fn map2<A: Element, B: Element, T: Shape, D: Device, Out: Element>(
    kernel: impl Map2<A, B, Out>,
    a: View<'_, D::Storage, A>,
    b: View<'_, D::Storage, B>,
    sizes: T::Sizes,
    common: [DType; 2],
) -> Result<Tensor<Out, T, D>> {
    let of = sizes.as_ref();
    let alike = a.sizes == of && b.sizes == of;
    // Fast path: both operands are row-major and of one shape, and so is the result.
    let row_major = strides::contiguous(&sizes);
    if alike && a.strides == row_major.as_ref() && b.strides == row_major.as_ref() {
        return Ok(Tensor::from_parts(D::map2(kernel, a, b, row_major.as_ref())?, 0, sizes, row_major));
    }
    let layouts = [layout_of(&a, common[0]), layout_of(&b, common[1])];
    let Walked { from: [from_a, from_b], to } = Walked::new(of, layouts, alike);
    let storage = D::map2(kernel, a.restrided(of, &from_a), b.restrided(of, &from_b), &to)?;
    Ok(Tensor::from_parts(storage, 0, sizes, T::Sizes::copied(&to)))
}

/// `kernel(a, b, c)` as a new tensor.
pub(crate) fn map3<A: Element, B: Element, C: Element, T: Shape, D: Device, Out: Element>(
    kernel: impl Map3<A, B, C, Out>,
    a: View<'_, D::Storage, A>,
    b: View<'_, D::Storage, B>,
    c: View<'_, D::Storage, C>,
    sizes: T::Sizes,
    common: [DType; 3],
) -> Result<Tensor<Out, T, D>> {
    let of = sizes.as_ref();
    let alike = [a.sizes, b.sizes, c.sizes].iter().all(|&from| from == of);
    let layouts = [layout_of(&a, common[0]), layout_of(&b, common[1]), layout_of(&c, common[2])];
    let Walked { from: [from_a, from_b, from_c], to } = Walked::new(of, layouts, alike);
    let storage = D::map3(kernel, a.restrided(of, &from_a), b.restrided(of, &from_b), c.restrided(of, &from_c), &to)?;
    Ok(Tensor::from_parts(storage, 0, sizes, T::Sizes::copied(&to)))
}

/// `Op(lhs, rhs)` as a new tensor.
#[inline]
pub(crate) fn combine<O, E, S, D, R, T, X>(lhs: &Tensor<E, S, D>, rhs: &R) -> Result<Tensor<Outcome<O, E, S, R>, T, X>>
where
    O: BinaryOp,
    E: Dtype,
    S: Shape + Broadcast<R::Shape, Output = T>,
    D: Device + Meet<R::Place, S::Kind, R::Kind, Output = X>,
    R: Operand,
    T: Shape,
    X: Device,
{
    combine_as::<O, E, PromotedWith<E, S, R>, S, D, R, T, X>(lhs, rhs)
}

/// [`combine`] with the promoted dtype as a parameter, which keeps its bounds readable. The most frequent case, operands of one layout and
/// dtype, is small enough to be inlined.
#[inline]
pub(crate) fn combine_as<O, E, P, S, D, R, T, X>(lhs: &Tensor<E, S, D>, rhs: &R) -> Result<Tensor<O::Output<P>, T, X>>
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
    // (In builds with debug assertions it would be compiled for nothing.)
    if const {
        !cfg!(debug_assertions)
            && !is_scalar::<R>()
            && !right_is_exact::<O, P, S::Kind, R::Kind>()
            && !<D as Meet<R::Place, S::Kind, R::Kind>>::LEFT_IS_VALUE
            && !<D as Meet<R::Place, S::Kind, R::Kind>>::RIGHT_IS_VALUE
    } && let OperandSource::View(view) = rhs.source()
        && let Source::View(left) = <D as Meet<R::Place, S::Kind, R::Kind>>::left(lhs.elements())?
        && let Source::View(right) = <D as Meet<R::Place, S::Kind, R::Kind>>::right(view)?
        && let Some((sizes, strides, len)) =
            strides::row_major_alike::<2, T>([(left.sizes, left.strides), (right.sizes, right.strides)])
    {
        check_divisors::<O, P, X, R::Elem>(left.sizes, right)?;
        let storage = X::map2_line::<_, _, O::Output<P>>(Combining::<O, P>::new(), left, right, len)?;
        return Ok(Tensor::whole(storage, sizes, strides, len));
    }
    combine_unlike::<O, E, P, S, D, R, T, X>(lhs, rhs)
}

/// [`combine_as`] of operands of any kind and layout.
///
/// What kind an operand is of, and where, its type says: branches on these constants are compiled for one kind alone, and so are their loops.
#[inline(never)]
fn combine_unlike<O, E, P, S, D, R, T, X>(lhs: &Tensor<E, S, D>, rhs: &R) -> Result<Tensor<O::Output<P>, T, X>>
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
    let left = <D as Meet<R::Place, S::Kind, R::Kind>>::left(lhs.elements())?;
    let exact = const { right_is_exact::<O, P, S::Kind, R::Kind>() };
    if const { is_scalar::<R>() } {
        let (Source::View(left), OperandSource::Scalar(value)) = (left, rhs.source()) else {
            unreachable!("a scalar has a value, and moves no tensor")
        };
        let value = right_scalar::<O, P>(left.sizes, value, E::DTYPE, exact)?;
        let sizes = T::Sizes::copied(left.sizes);
        return map1::<_, T, X, _>(CombiningScalar::<O, P>(value), left, sizes, O::Computes::<P>::DTYPE);
    }
    let OperandSource::View(right) = rhs.source() else { unreachable!("a tensor has elements") };
    let right = <D as Meet<R::Place, S::Kind, R::Kind>>::right(right)?;
    if const { <D as Meet<R::Place, S::Kind, R::Kind>>::RIGHT_IS_VALUE } {
        let (Source::View(left), Source::Value(value)) = (left, right) else {
            unreachable!("the right operand is moved to the left one")
        };
        let value = right_value::<O, P, _>(left.sizes, value, exact)?;
        let sizes = T::Sizes::copied(left.sizes);
        return map1::<_, T, X, _>(CombiningRight::<O, P>(value), left, sizes, O::Computes::<P>::DTYPE);
    }
    if const { <D as Meet<R::Place, S::Kind, R::Kind>>::LEFT_IS_VALUE } {
        let (Source::Value(value), Source::View(right)) = (left, right) else {
            unreachable!("the left operand is moved to the right one")
        };
        check_divisors::<O, P, X, R::Elem>(&[], right)?;
        let sizes = T::Sizes::copied(right.sizes);
        let kernel = CombiningLeft::<O, P>(operand::<O, P, _>(value));
        return map1::<_, T, X, _>(kernel, right, sizes, O::Computes::<P>::DTYPE);
    }
    let (Source::View(left), Source::View(right)) = (left, right) else {
        unreachable!("both operands are where the result is")
    };
    check_divisors::<O, P, X, R::Elem>(left.sizes, right)?;
    let sizes = broadcast::<T, O::Output<P>>(O::NAME, left.sizes, right.sizes)?;
    if const { right_is_exact::<O, P, S::Kind, R::Kind>() }
        && let Some(value) = X::peek_free(right)
    {
        return map1::<_, T, X, _>(CombiningRight::<O, P>(value.cast()), left, sizes, O::Computes::<P>::DTYPE);
    }
    map2::<_, _, T, X, _>(Combining::<O, P>::new(), left, right, sizes, [O::Computes::<P>::DTYPE; 2])
}

/// `Op(lhs, rhs)` for a scalar on the left, by a kernel with its value, which is `exact` if the kernel multiplies by it.
pub(crate) fn combine_scalar<O, E, P, S, D, K>(
    lhs: ScalarValue,
    rhs: &Tensor<E, S, D>,
    exact: bool,
    kernel: impl FnOnce(ComputeOf<O, P>) -> K,
) -> Result<Tensor<O::Output<P>, S, D>>
where
    O: BinaryOp,
    E: Dtype,
    P: Dtype,
    S: Shape,
    D: Device,
    K: Map1<E, O::Output<P>>,
{
    check_divisors::<O, P, D, E>(&[], rhs.elements())?;
    let value = scalar_operand::<O, P>(lhs, P::DTYPE, exact && !P::DTYPE.is_complex())?;
    map1::<_, S, D, _>(kernel(value), rhs.elements(), rhs.shape(), O::Computes::<P>::DTYPE)
}
