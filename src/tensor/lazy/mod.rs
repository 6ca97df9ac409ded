//! Lazy expressions: elementwise operations that are recorded first and run in one pass, without intermediate tensors.
//!
//! ```
//! use castiron::{axis, tensor};
//! let (x, y) = (tensor![[1.0, 2.0], [3.0, 4.0]], tensor![0.5, 0.5]);
//! // One loop; nothing as large as `x` is allocated.
//! assert_eq!((x.lazy() - &y).square().sum().item(), 21.0_f32);
//! assert_eq!((x.lazy() * 2.0 + &y).square().sqrt().eval().to_vec(), [2.5_f32, 4.5, 6.5, 8.5]);
//! ```
//!
//! Dtypes, shapes, devices, values and compiler messages are those of the same operations on tensors: each operation rounds to its dtype.
//! An expression is consumed by [`eval`](Lazy::eval), by reductions, by [`Tensor::assign`](crate::Tensor::assign) and by operators such as
//! `+=`. [`fused!`](crate::fused!) writes the `lazy()` for you.

mod applied;
mod called;
pub(crate) mod formula;
mod methods;
mod operand;
mod operators;
mod reduce;
mod refused;

use crate::sealed::Sealed;
#[doc(hidden)]
pub use called::{
    Argument, Call, Called, HostFunction, OnHost, Operands, OtherArgument, WithElements, argument, call, called,
};
pub use formula::OperandsBeside;
pub(in crate::tensor) use operand::alone;
pub use operand::{Begin, LazyOperand, LazyOutcome, RightOfLazy, where_};

use super::Tensor;
use crate::device::{Device, Receives};
use crate::dtype::{CastTo, Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::BinaryOp;
use crate::ops::expression::{Expression, Mapped1, Mapped2, Mapped3, Splat};
#[cfg(feature = "grad")]
use crate::ops::kernel::Copying;
use crate::ops::kernel::{Casting, Choosing, Map1, Map2, Map3};
use crate::ops::reduce::AnyAll;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::elementwise::apply::{broadcast, layout, refuses_zeros};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// Elementwise operations not yet run: dtype, shape and device of the result, and the expression.
///
/// Made by [`Tensor::lazy`]. See the [module](self).
#[must_use = "nothing is computed before `eval`, a reduction or an assignment"]
pub struct Lazy<E: Dtype, S: Shape, D: Device, X> {
    /// The node and extent, or the error.
    parts: Result<(X, Extent<S>)>,
    of: PhantomData<fn() -> (E, D)>,
}

impl<E: Dtype, S: Shape, D: Device, X: Clone> Clone for Lazy<E, S, D, X> {
    fn clone(&self) -> Self {
        Lazy { parts: self.parts.clone(), of: PhantomData }
    }
}

/// The sizes of a result, and the strides it would have as a tensor.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Extent<S: Shape> {
    pub(super) sizes: S::Sizes,
    pub(super) strides: S::Sizes,
}

impl<S: Shape> Extent<S> {
    /// That of the result of an operation of one operand.
    fn of_one(self) -> Self {
        Extent { sizes: self.sizes, strides: strides::elementwise_result(&self.sizes, &[self.strides], true) }
    }
    /// With strides that leave no gaps.
    fn without_gaps(self) -> Self {
        if strides::is_dense(self.sizes.as_ref(), self.strides.as_ref()) { self } else { self.of_one() }
    }
    /// The extent with a scalar operand: the same sizes as another shape type.
    fn beside_scalar<T: Shape>(&self, sizes: T::Sizes) -> Extent<T> {
        let of = T::Sizes::copied(self.strides.as_ref());
        let row_major = strides::contiguous(&sizes);
        let is_settled = of == row_major && !sizes.as_ref().contains(&0);
        let strides = if is_settled { row_major } else { strides::elementwise_result(&sizes, &[of], false) };
        Extent { sizes, strides }
    }
}

/// Sizes, strides, and whether the elements have the computing dtype.
type Layout<'a> = (&'a [usize], &'a [usize], bool);

/// Sealed traits: loops rely on an expression being made for the sizes it is run over.
mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a part of a lazy expression",
        label = "this trait is castiron's alone",
        note = "parts are made by `lazy()` and by operations on what it gives"
    )]
    pub trait Node {}
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made an operand of lazy expressions",
        label = "this trait is castiron's alone",
        note = "operands are lazy expressions, tensors, references to them and Rust scalars"
    )]
    pub trait LazyOperand: crate::sealed::Sealed {}

    use super::*;
    use crate::dtype::Scalar;
    use crate::{TensorView, TensorViewMut};

    impl<E: Element, S: Shape, P: Device> Node for Borrowed<'_, E, S, P> {}
    impl<E: Element, S: Shape, P: Device> Node for Held<E, S, P> {}
    impl<E> Node for Value<E> {}
    impl<K, X, O> Node for Applied1<K, X, O> {}
    impl<K, X, Y, Op, P> Node for Applied2<K, X, Y, Op, P> {}
    impl<C, X, Y, O> Node for Chosen<C, X, Y, O> {}
    impl<Op, P, X> Node for operators::Checked<Op, P, X> {}

    #[diagnostic::do_not_recommend]
    impl<T: Scalar> LazyOperand for T {}
    impl<E: Dtype, S: Shape, D: Device, X> LazyOperand for Lazy<E, S, D, X> {}
    impl<E: Element, S: Shape, D: Device> LazyOperand for Tensor<E, S, D> {}
    impl<E: Element, S: Shape, D: Device> LazyOperand for &Tensor<E, S, D> {}
    impl<E: Element, S: Shape, D: Device> LazyOperand for &TensorView<'_, E, S, D> {}
    impl<E: Element, S: Shape, D: Device> LazyOperand for &TensorViewMut<'_, E, S, D> {}
}

/// A part of an expression over tensors of device `D`.
pub trait Node<D: Device>: sealed::Node + Clone {
    /// The dtype of its elements.
    type Elem: Dtype;
    /// The expression that the device runs.
    #[doc(hidden)]
    type Expression: Expression<Elem = Self::Elem>;
    /// The expression broadcast to `sizes`, over the elements of the tensors in this part. Errors of these tensors are returned.
    ///
    /// # Safety
    /// The tensors in this part broadcast to `sizes`, for which it was made; the expression is run while the tensors exist, and
    /// over these sizes.
    #[doc(hidden)]
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression>;
    /// The elements computed one operation after another, for devices that record operations; they broadcast to `sizes`.
    #[cfg(feature = "grad")]
    #[doc(hidden)]
    fn each(&self, sizes: &[usize]) -> Result<Steps<'_, Self::Elem, D>>;
}

/// What a part of an expression gives where it is computed one operation after another.
#[cfg(feature = "grad")]
#[doc(hidden)]
pub struct Steps<'a, E: Element, D: Device>(pub(super) crate::composite::Erased<'a, E, D>);

/// The elements of a tensor that may be on another device.
#[cfg(feature = "grad")]
fn received<'a, E: Dtype, S: Shape, P: Device, D: Device + Receives<P, S::Kind>>(
    x: &'a Tensor<E, S, P>,
) -> Result<Steps<'a, E, D>> {
    use crate::composite::Erased;
    Ok(Steps(match <D as Receives<P, S::Kind>>::right(x.elements())? {
        crate::device::Source::View(view) => Erased::of(view),
        crate::device::Source::Value(value) => one(value)?,
    }))
}
/// A zero-dim tensor.
#[cfg(feature = "grad")]
fn one<E: Element, D: Device>(value: E) -> Result<crate::composite::Owned<E, D>> {
    let sizes = crate::layout::dims::Dims::known(&[]);
    Ok(crate::composite::Erased::dense(D::fill(None, value, 1)?, sizes))
}

/// A borrowed tensor.
#[derive(Clone, Copy)]
pub struct Borrowed<'a, E: Element, S: Shape, P: Device>(&'a Tensor<E, S, P>);
/// A tensor owned by the expression.
pub struct Held<E: Element, S: Shape, P: Device>(Tensor<E, S, P>);
impl<E: Element, S: Shape, P: Device> Clone for Held<E, S, P> {
    fn clone(&self) -> Self {
        Held(self.0.clone())
    }
}

impl<E: Dtype, S: Shape, P: Device, D: Device + Receives<P, S::Kind>> Node<D> for Borrowed<'_, E, S, P> {
    type Elem = E;
    type Expression = <D as Receives<P, S::Kind>>::Part<E>;
    #[cfg(feature = "grad")]
    fn each(&self, _: &[usize]) -> Result<Steps<'_, E, D>> {
        received::<E, S, P, D>(self.0)
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        <D as Receives<P, S::Kind>>::part(self.0.elements(), sizes)
    }
}
impl<E: Dtype, S: Shape, P: Device, D: Device + Receives<P, S::Kind>> Node<D> for Held<E, S, P> {
    type Elem = E;
    type Expression = <D as Receives<P, S::Kind>>::Part<E>;
    #[cfg(feature = "grad")]
    fn each(&self, _: &[usize]) -> Result<Steps<'_, E, D>> {
        received::<E, S, P, D>(&self.0)
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        <D as Receives<P, S::Kind>>::part(self.0.elements(), sizes)
    }
}

/// One value.
#[derive(Clone, Copy)]
pub struct Value<E>(E);
impl<E: Dtype, D: Device> Node<D> for Value<E> {
    type Elem = E;
    type Expression = Splat<E>;
    #[cfg(feature = "grad")]
    fn each(&self, _: &[usize]) -> Result<Steps<'_, E, D>> {
        one(self.0).map(Steps)
    }
    unsafe fn expression(&self, _: &[usize]) -> Result<Splat<E>> {
        Ok(Splat(self.0))
    }
}

/// A kernel with one operand.
pub struct Applied1<K, X, O> {
    kernel: K,
    x: X,
    result: PhantomData<fn() -> O>,
}
impl<K: Copy, X: Clone, O> Clone for Applied1<K, X, O> {
    fn clone(&self) -> Self {
        Applied1 { kernel: self.kernel, x: self.x.clone(), result: PhantomData }
    }
}
impl<D: Device, X: Node<D>, O: Dtype, K: Map1<X::Elem, O>> Node<D> for Applied1<K, X, O> {
    type Elem = O;
    type Expression = Mapped1<K, X::Expression, O>;
    #[cfg(feature = "grad")]
    fn each(&self, sizes: &[usize]) -> Result<Steps<'_, O, D>> {
        self.x.each(sizes)?.0.map1::<O>("lazy", self.kernel).map(Steps)
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        // SAFETY: the caller's promise.
        Ok(Mapped1::new(self.kernel, unsafe { self.x.expression(sizes)? }))
    }
}

/// The kernel of an operation with two operands that promote to `P`.
pub struct Applied2<K, X, Y, Op, P> {
    kernel: K,
    x: X,
    y: Y,
    op: PhantomData<fn() -> (Op, P)>,
}
impl<K: Copy, X: Clone, Y: Clone, Op, P> Clone for Applied2<K, X, Y, Op, P> {
    fn clone(&self) -> Self {
        Applied2 { kernel: self.kernel, x: self.x.clone(), y: self.y.clone(), op: PhantomData }
    }
}
impl<D: Device, X: Node<D>, Y: Node<D>, Op: BinaryOp, P: Dtype, K> Node<D> for Applied2<K, X, Y, Op, P>
where
    K: Map2<X::Elem, Y::Elem, Op::Output<P>>,
{
    type Elem = Op::Output<P>;
    type Expression = Mapped2<K, X::Expression, Y::Expression, Op::Output<P>>;
    #[cfg(feature = "grad")]
    fn each(&self, sizes: &[usize]) -> Result<Steps<'_, Op::Output<P>, D>> {
        let (x, y) = (self.x.each(sizes)?, self.y.each(sizes)?);
        check_each::<Op, P, D, _>(&y, sizes)?;
        x.0.map2::<Y::Elem, Op::Output<P>>(Op::NAME, self.kernel, &y.0).map(Steps)
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        // SAFETY: the caller's promise; the tensors are here.
        let (x, y) = unsafe {
            let y = self.y.expression(sizes)?;
            check_divisors::<Op, P, D, _>(y, sizes)?;
            (self.x.expression(sizes)?, y)
        };
        Ok(Mapped2::new(self.kernel, x, y))
    }
}

/// Checks the integer divisors of `Op` for zeros. (All divisors are checked before anything is computed, as for tensors.)
///
/// # Safety
/// As for `Backend::reduce_lazy`.
unsafe fn check_divisors<Op: BinaryOp, P: Dtype, D: Device, X: Expression<Elem: Dtype>>(
    x: X,
    sizes: &[usize],
) -> Result<()> {
    if refuses_zeros(Op::DIVIDES, P::DTYPE, sizes) {
        let divisors = Mapped1::<_, _, P>::new(Casting, x);
        // SAFETY: the caller's promise.
        let all = unsafe { D::reduce_lazy(AnyAll::ALL, divisors, sizes, u32::MAX)? };
        if D::has_data(&all) && !D::peek(View::<_, bool>::new(&all, 0, &[], &[]))? {
            return Err(Error::DivisionByZero { op: Op::NAME, dtype: P::DTYPE });
        }
    }
    Ok(())
}

/// [`check_divisors`] of divisors that were computed.
#[cfg(feature = "grad")]
pub(super) fn check_each<Op: BinaryOp, P: Dtype, D: Device, E: Dtype>(
    y: &Steps<'_, E, D>,
    sizes: &[usize],
) -> Result<()> {
    if refuses_zeros(Op::DIVIDES, P::DTYPE, sizes) {
        let divisors = y.0.map1::<P>(Op::NAME, Casting)?;
        if D::has_data(divisors.storage()) && D::has(divisors.view(), crate::ops::arguments::Sought::Zero)? {
            return Err(Error::DivisionByZero { op: Op::NAME, dtype: P::DTYPE });
        }
    }
    Ok(())
}

/// A selection between two operands by a condition.
#[derive(Clone)]
pub struct Chosen<C, X, Y, O> {
    parts: (C, X, Y),
    result: PhantomData<fn() -> O>,
}
impl<D: Device, C: Node<D, Elem = bool>, X: Node<D>, Y: Node<D>, O: Dtype> Node<D> for Chosen<C, X, Y, O>
where
    Choosing: Map3<bool, X::Elem, Y::Elem, O>,
{
    type Elem = O;
    type Expression = Mapped3<Choosing, C::Expression, X::Expression, Y::Expression, O>;
    #[cfg(feature = "grad")]
    fn each(&self, sizes: &[usize]) -> Result<Steps<'_, O, D>> {
        let (condition, x, y) = &self.parts;
        let (condition, x, y) = (condition.each(sizes)?, x.each(sizes)?, y.each(sizes)?);
        let op = "where";
        let (condition, x, y) = (condition.0.expand(op, sizes)?, x.0.expand(op, sizes)?, y.0.expand(op, sizes)?);
        let strides = strides::row_major(sizes);
        let chosen = D::map3::<bool, X::Elem, Y::Elem, O>(Choosing, condition.view(), x.view(), y.view(), &strides)?;
        Ok(Steps(crate::composite::Erased::dense(chosen, crate::layout::dims::Dims::known(sizes))))
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        let (condition, x, y) = &self.parts;
        // SAFETY: the caller's promise.
        let (condition, x, y) = unsafe { (condition.expression(sizes)?, x.expression(sizes)?, y.expression(sizes)?) };
        Ok(Mapped3::new(Choosing, condition, x, y))
    }
}

/// The extent of a result of two operands: sizes broadcast, axes in the memory order of the operands.
pub(super) fn extend<T: Shape, Out: Element>(op: &'static str, a: Layout, b: Layout) -> Result<Extent<T>> {
    if let Some((sizes, strides, _)) = strides::row_major_alike::<2, T>([(a.0, a.1), (b.0, b.1)]) {
        return Ok(Extent { sizes, strides });
    }
    let sizes = broadcast::<T, Out>(op, a.0, b.0)?;
    let row_major = strides::contiguous(&sizes);
    let alike = a.0 == sizes.as_ref() && b.0 == sizes.as_ref();
    if alike && a.1 == row_major.as_ref() && b.1 == row_major.as_ref() {
        return Ok(Extent { sizes, strides: row_major });
    }
    let layouts = [layout(a.0, a.1, &sizes, a.2), layout(b.0, b.1, &sizes, b.2)];
    Ok(Extent { sizes, strides: strides::elementwise_result(&sizes, &layouts, alike) })
}

impl<E: Dtype, S: Shape, D: Device> Tensor<E, S, D> {
    /// The tensor as the first operand of an expression that runs in one pass: see [`lazy`](crate::lazy).
    ///
    /// PyTorch's nearest equivalent is `torch.compile`.
    ///
    /// ```
    /// let (a, b) = (castiron::tensor![1.0, 2.0], castiron::tensor![3.0, 4.0]);
    /// assert_eq!((a.lazy() * &b + 1.0).eval().to_vec(), [4.0_f32, 9.0]);
    /// ```
    pub fn lazy(&self) -> Lazy<E, S, D, Borrowed<'_, E, S, D>> {
        Lazy::new(Borrowed(self), Extent { sizes: self.shape(), strides: self.stride() })
    }
}

impl<E: Dtype, S: Shape, D: Device, X> Lazy<E, S, D, X> {
    fn new(node: X, extent: Extent<S>) -> Self {
        Lazy::of(Ok((node, extent)))
    }

    /// The node, and the sizes that it broadcasts to.
    pub(in crate::tensor) fn node(self) -> Result<(X, S::Sizes)> {
        self.parts.map(|(node, extent)| (node, extent.sizes))
    }

    fn of(parts: Result<(X, Extent<S>)>) -> Self {
        Lazy { parts, of: PhantomData }
    }

    /// The expression with another node of the same sizes.
    fn then<O: Dtype, Y>(self, node: impl FnOnce(X) -> Result<Y>) -> Lazy<O, S, D, Y> {
        Lazy::of(self.parts.and_then(|(x, extent)| Ok((node(x)?, extent.of_one()))))
    }

    /// A kernel applied to every element.
    fn map<K, O: Dtype>(self, kernel: Result<K>) -> Lazy<O, S, D, Applied1<K, X, O>> {
        self.then(|x| Ok(Applied1 { kernel: kernel?, x, result: PhantomData }))
    }
}

impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
    /// Runs the expression into a new tensor, in one pass.
    ///
    /// # Panics
    /// If, in any of the operations, sizes known at run time did not broadcast, a scalar did not fit or an integer was divided by zero, or
    /// if memory runs out.
    ///
    /// ```
    /// let x = castiron::tensor![1.0, 2.0];
    /// assert_eq!((x.lazy() + 1.0).square().eval().to_vec(), [4.0_f32, 9.0]);
    /// ```
    #[fallible]
    pub fn eval(self) -> Result<Tensor<E, S, D>> {
        let (node, extent) = self.parts?;
        let Extent { sizes, strides } = extent.without_gaps();
        #[cfg(feature = "grad")]
        if const { D::RECORDS } {
            let x = node.each(sizes.as_ref())?.0;
            let storage = D::map1::<E, E>(Copying, x.expand("lazy", sizes.as_ref())?.view(), strides.as_ref())?;
            return Ok(Tensor::from_parts(storage, 0, sizes, strides));
        }
        // SAFETY: the expression was made for these sizes, and the node holds its tensors; the strides leave no gaps.
        let run = || unsafe { D::evaluate(node.expression(sizes.as_ref())?, sizes.as_ref(), strides.as_ref()) };
        let storage = D::fused(E::DTYPE, sizes.as_ref(), None, run)?;
        Ok(Tensor::from_parts(storage, 0, sizes, strides))
    }

    /// Each element converted to another dtype, as [`Tensor::to`](crate::Tensor::to) does.
    ///
    /// ```
    /// let bytes = castiron::tensor![0, 255; u8];
    /// assert_eq!((bytes.lazy().to::<f64>() / 255.0).eval().to_vec(), [0.0_f64, 1.0]);
    /// ```
    pub fn to<F: Dtype>(self) -> Lazy<F, S, D, Applied1<Casting, X, F>>
    where
        E: CastTo<F>,
    {
        self.map(Ok(Casting))
    }
}

/// The last step of [`fused!`](crate::fused!): a lazy expression is evaluated, a tensor is returned.
#[diagnostic::on_unimplemented(
    message = "`fused!` gives a tensor, and this is `{Self}`",
    label = "no tensor comes of this",
    note = "an element is read of what it gives: `fused!(x.sum()).item()`"
)]
pub trait Finish: Sealed {
    /// The type of the result.
    type Output;
    /// The result.
    fn finish(self) -> Self::Output;
}
impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Finish for Lazy<E, S, D, X> {
    type Output = Tensor<E, S, D>;
    #[track_caller]
    fn finish(self) -> Tensor<E, S, D> {
        self.eval()
    }
}
impl<E: Element, S: Shape, D: Device> Finish for Tensor<E, S, D> {
    type Output = Self;
    fn finish(self) -> Self {
        self
    }
}
impl<A, B> Finish for (A, B) {
    type Output = Self;
    fn finish(self) -> Self {
        self
    }
}
