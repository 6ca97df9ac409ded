//! Formulas of one's own (`ops::formula`) applied to tensors and to lazy expressions.

use super::operand::{LazyOperand, extend_three};
use super::{Applied1, Extent, Lazy, Node, extend, sealed};
use crate::Tensor;
use crate::device::Device;
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::{Kind, KindRank};
use crate::dtype::{Dtype, Element as _, Float};
use crate::error::Result;
use crate::ops::expression::{Mapped2, Mapped3};
use crate::ops::formula::{ApplyingFormula, Formula, One, Three, Two};
use crate::shape::{Broadcast, Shape, SizeArray};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// The operands of a formula besides the first: `()`, one, or two as a tuple. `Count` is how many the formula has.
#[diagnostic::on_unimplemented(
    message = "the formula can't be applied to a tensor of dtype `{E}` on `{D}` and `{Self}`",
    label = "no operands of this formula",
    note = "the operands after the first are `()`, one tensor or scalar, or two as a tuple, as many as the formula has",
    note = "they and the tensor promote to a floating-point dtype, and their shapes broadcast; integers are converted first: `.to::<f32>()`"
)]
pub trait OperandsBeside<Count, E: Dtype, S: Shape, D: Device> {
    /// The dtype of the result: what the operands promote to, from left to right.
    type Elem: Float;
    /// The shape of the result.
    type Shape: Shape;
    #[doc(hidden)]
    type Node<F: Formula, X: Node<D, Elem = E>>: Node<D, Elem = Self::Elem>;
    #[doc(hidden)]
    fn beside<F: Formula, X: Node<D, Elem = E>>(
        self,
        x: (X, Extent<S>),
    ) -> Result<(Self::Node<F, X>, Extent<Self::Shape>)>;
}

#[diagnostic::do_not_recommend]
impl<E: Float, S: Shape, D: Device> OperandsBeside<One, E, S, D> for () {
    type Elem = E;
    type Shape = S;
    type Node<F: Formula, X: Node<D, Elem = E>> = Applied1<ApplyingFormula<F>, X, E>;
    fn beside<F: Formula, X: Node<D, Elem = E>>(
        self,
        (x, extent): (X, Extent<S>),
    ) -> Result<(Self::Node<F, X>, Extent<S>)> {
        let strides = crate::layout::strides::elementwise_result(&extent.sizes, &[extent.strides], true);
        Ok((Applied1 { kernel: ApplyingFormula::new(), x, result: PhantomData }, Extent { strides, ..extent }))
    }
}

/// The dtype of a tensor or expression and an operand.
type Promoted<E, S, A, D> = ResultType<<S as Shape>::Kind, E, <A as LazyOperand<D>>::Kind, <A as LazyOperand<D>>::Elem>;
type Both<S, A, D> = <S as Broadcast<<A as LazyOperand<D>>::Shape>>::Output;

#[diagnostic::do_not_recommend]
impl<E: Dtype, S: Shape, D: Device, A: LazyOperand<D>> OperandsBeside<Two, E, S, D> for A
where
    S: Broadcast<A::Shape>,
    Promoted<E, S, A, D>: Float,
{
    type Elem = Promoted<E, S, A, D>;
    type Shape = Both<S, A, D>;
    type Node<F: Formula, X: Node<D, Elem = E>> = OfTwo<F, X, A::Alone<Self::Elem>, Self::Elem>;
    fn beside<F: Formula, X: Node<D, Elem = E>>(
        self,
        (x, of): (X, Extent<S>),
    ) -> Result<(Self::Node<F, X>, Extent<Self::Shape>)> {
        let (a, of_a) = self.alone::<Self::Elem>(F::NAME)?;
        let extent = beside::<Self::Elem, E, A::Elem, S, A::Shape, Self::Shape, A::Kind>(F::NAME, of, of_a)?;
        Ok((OfTwo { x, a, of: PhantomData }, extent))
    }
}

#[diagnostic::do_not_recommend]
impl<E: Dtype, S: Shape, D: Device, A: LazyOperand<D>, B: LazyOperand<D>> OperandsBeside<Three, E, S, D> for (A, B)
where
    S: Broadcast<A::Shape>,
    Both<S, A, D>: Broadcast<B::Shape>,
    Promoted<Promoted<E, S, A, D>, Both<S, A, D>, B, D>: Float,
{
    type Elem = Promoted<Promoted<E, S, A, D>, Both<S, A, D>, B, D>;
    type Shape = Both<Both<S, A, D>, B, D>;
    type Node<F: Formula, X: Node<D, Elem = E>> = OfThree<F, X, A::Alone<Self::Elem>, B::Alone<Self::Elem>, Self::Elem>;
    fn beside<F: Formula, X: Node<D, Elem = E>>(
        self,
        (x, of): (X, Extent<S>),
    ) -> Result<(Self::Node<F, X>, Extent<Self::Shape>)> {
        let (a, of_a) = self.0.alone::<Self::Elem>(F::NAME)?;
        let (b, of_b) = self.1.alone::<Self::Elem>(F::NAME)?;
        let is_alike = [E::DTYPE, A::Elem::DTYPE, B::Elem::DTYPE].map(|dtype| dtype == Self::Elem::DTYPE);
        let both = beside::<Self::Elem, E, A::Elem, S, A::Shape, Both<S, A, D>, A::Kind>(F::NAME, of, of_a)?;
        let extent = match [A::Kind::RANK, B::Kind::RANK].map(|kind| matches!(kind, KindRank::Scalar)) {
            [false, false] => extend_three::<Self::Shape, Self::Elem>(
                F::NAME,
                (of.sizes.as_ref(), of.strides.as_ref(), is_alike[0]),
                (of_a.sizes.as_ref(), of_a.strides.as_ref(), is_alike[1]),
                (of_b.sizes.as_ref(), of_b.strides.as_ref(), is_alike[2]),
            )?,
            _ => beside::<Self::Elem, Self::Elem, B::Elem, Both<S, A, D>, B::Shape, Self::Shape, B::Kind>(
                F::NAME,
                both,
                of_b,
            )?,
        };
        Ok((OfThree { x, a, b, of: PhantomData }, extent))
    }
}

/// The extent of a result beside another operand.
fn beside<P: Dtype, E: Dtype, A: Dtype, S: Shape, T: Shape, U: Shape, K: Kind>(
    op: &'static str,
    of: Extent<S>,
    of_a: Extent<T>,
) -> Result<Extent<U>> {
    if matches!(K::RANK, KindRank::Scalar) {
        return Ok(of.beside_scalar(U::Sizes::copied(of.sizes.as_ref())));
    }
    extend::<U, P>(
        op,
        (of.sizes.as_ref(), of.strides.as_ref(), E::DTYPE == P::DTYPE),
        (of_a.sizes.as_ref(), of_a.strides.as_ref(), A::DTYPE == P::DTYPE),
    )
}

/// A formula of two operands.
pub struct OfTwo<F, X, A, P> {
    x: X,
    a: A,
    of: PhantomData<fn() -> (F, P)>,
}
impl<F, X: Clone, A: Clone, P> Clone for OfTwo<F, X, A, P> {
    fn clone(&self) -> Self {
        OfTwo { x: self.x.clone(), a: self.a.clone(), of: PhantomData }
    }
}
impl<F, X, A, P> sealed::Node for OfTwo<F, X, A, P> {}
impl<F: Formula, D: Device, X: Node<D>, A: Node<D>, P: Float> Node<D> for OfTwo<F, X, A, P> {
    type Elem = P;
    type Expression = Mapped2<ApplyingFormula<F>, X::Expression, A::Expression, P>;
    #[cfg(feature = "grad")]
    fn each(&self, sizes: &[usize]) -> Result<super::Steps<'_, P, D>> {
        let (x, a) = (self.x.each(sizes)?, self.a.each(sizes)?);
        x.0.map2::<A::Elem, P>(F::NAME, ApplyingFormula::<F>::new(), &a.0).map(super::Steps)
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        // SAFETY: the caller's promise; the tensors are here.
        let (x, a) = unsafe { (self.x.expression(sizes)?, self.a.expression(sizes)?) };
        Ok(Mapped2::new(ApplyingFormula::new(), x, a))
    }
}

/// A formula of three operands.
pub struct OfThree<F, X, A, B, P> {
    x: X,
    a: A,
    b: B,
    of: PhantomData<fn() -> (F, P)>,
}
impl<F, X: Clone, A: Clone, B: Clone, P> Clone for OfThree<F, X, A, B, P> {
    fn clone(&self) -> Self {
        OfThree { x: self.x.clone(), a: self.a.clone(), b: self.b.clone(), of: PhantomData }
    }
}
impl<F, X, A, B, P> sealed::Node for OfThree<F, X, A, B, P> {}
impl<F: Formula, D: Device, X: Node<D>, A: Node<D>, B: Node<D>, P: Float> Node<D> for OfThree<F, X, A, B, P> {
    type Elem = P;
    type Expression = Mapped3<ApplyingFormula<F>, X::Expression, A::Expression, B::Expression, P>;
    #[cfg(feature = "grad")]
    fn each(&self, sizes: &[usize]) -> Result<super::Steps<'_, P, D>> {
        let (x, a, b) = (self.x.each(sizes)?, self.a.each(sizes)?, self.b.each(sizes)?);
        let (x, a, b) = (x.0.expand(F::NAME, sizes)?, a.0.expand(F::NAME, sizes)?, b.0.expand(F::NAME, sizes)?);
        let strides = crate::layout::strides::row_major(sizes);
        let kernel = ApplyingFormula::<F>::new();
        let value = D::map3::<X::Elem, A::Elem, B::Elem, P>(kernel, x.view(), a.view(), b.view(), &strides)?;
        Ok(super::Steps(crate::composite::Erased::dense(value, crate::layout::dims::Dims::known(sizes))))
    }
    unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
        // SAFETY: the caller's promise; the tensors are here.
        let (x, a, b) = unsafe { (self.x.expression(sizes)?, self.a.expression(sizes)?, self.b.expression(sizes)?) };
        Ok(Mapped3::new(ApplyingFormula::new(), x, a, b))
    }
}

impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
    /// A [formula](macro@crate::formula) applied to each element, as [`Tensor::apply`](crate::Tensor::apply), in the same pass as the rest.
    pub fn apply<F: Formula, R: OperandsBeside<F::Operands, E, S, D>>(
        self,
        _formula: F,
        operands: R,
    ) -> Lazy<R::Elem, R::Shape, D, R::Node<F, X>> {
        Lazy::of(self.parts.and_then(|x| operands.beside::<F, X>(x)))
    }
}

impl<E: Dtype, S: Shape, D: Device> Tensor<E, S, D> {
    /// A [formula](macro@crate::formula) of one's own, applied to each element. The operands after the tensor are `()`, one tensor or
    /// scalar, or two as a tuple; all broadcast, and promote to the dtype of the result.
    ///
    /// It runs on every device, and has a gradient.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast, a scalar does not fit, or memory runs out.
    ///
    /// ```
    /// use castiron::{formula, tensor};
    /// #[formula]
    /// fn swish<F: Float>(x: F, beta: F) -> F {
    ///     x / (1.0 + (-(beta * x)).exp())
    /// }
    /// let x = tensor![-1.0, 0.0, 2.0];
    /// assert_eq!(x.apply(swish, 1), x.silu());
    /// ```
    #[fallible]
    pub fn apply<F: Formula, R: OperandsBeside<F::Operands, E, S, D>>(
        &self,
        formula: F,
        operands: R,
    ) -> Result<Tensor<R::Elem, R::Shape, D>> {
        self.lazy().apply(formula, operands).try_eval()
    }
}
