//! Selection between elements: `where_` by a condition, `clamp` by bounds.

use crate::device::{Device, Receives, Source};
use crate::dtype::promote::ResultType;
use crate::dtype::{CanCast, Castable, DType, Dtype, Element, Scalar};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::{MaskFor, OrderedFor};
use crate::ops::kernel::{Choosing, ChoosingBoth, ChoosingLeft, ChoosingRight};
use crate::shape::{Broadcast, Shape};
use crate::storage::View;
use crate::tensor::Tensor;
use crate::tensor::base::operand::{Operand, OperandSource};
use crate::tensor::elementwise::apply::{PromotedWith, broadcast_all, is_value, map1, map2, map3, scalar_operand};
use crate::tensor::elementwise::output::update;
use castiron_macros::fallible;

/// An operand of a selection: elements, or one value.
pub(crate) enum Choice<'a, D: Device, E, P> {
    Elements(View<'a, D::Storage, E>),
    Value(P),
}

/// An operand of a selection, with scalars converted to the result's dtype. A scalar that does not fit is refused.
pub(crate) fn choice<'a, R: Operand, P: Castable, D: Device + Receives<R::Place, R::Kind>>(
    op: &'static str,
    operand: &'a R,
) -> Result<Choice<'a, D, R::Elem, P>> {
    Ok(match operand.source() {
        OperandSource::Scalar(value) => match value.to_dtype() {
            Some(value) => Choice::Value(value),
            None => return Err(Error::ScalarOutOfRange { op, value, dtype: P::DTYPE }),
        },
        OperandSource::View(view) => match <D as Receives<R::Place, R::Kind>>::right(view)? {
            Source::View(view) => Choice::Elements(view),
            Source::Value(value) => Choice::Value(value.cast()),
        },
    })
}

/// The dtype that two operands promote to.
type Promoted2<A, B> =
    ResultType<<A as Operand>::Kind, <A as Operand>::Elem, <B as Operand>::Kind, <B as Operand>::Elem>;
/// The shape of the result of a selection.
type Chosen<S, A, B> = <<S as Broadcast<<A as Operand>::Shape>>::Output as Broadcast<<B as Operand>::Shape>>::Output;

/// Elements of `a` where the condition is true, else of `b` (`torch.where`). All three broadcast; `a` and `b` are tensors or scalars and
/// promote; the condition is a bool tensor.
///
/// # Panics
/// If sizes known at run time do not broadcast or a scalar does not fit.
///
/// ```
/// use castiron::{tensor, where_};
/// let x = tensor![-1.5, 0.5, 2.5];
/// assert_eq!(where_(x.gt(0), &x, 0.0).to_vec(), [0.0_f32, 0.5, 2.5]);
/// ```
#[fallible(free)]
pub fn where_<C, S, D, A, B>(
    condition: impl core::borrow::Borrow<Tensor<C, S, D>>,
    a: A,
    b: B,
) -> Result<Tensor<Promoted2<A, B>, Chosen<S, A, B>, D>>
where
    C: MaskFor<ops::reduce::where_>,
    S: Shape + Broadcast<A::Shape>,
    <S as Broadcast<A::Shape>>::Output: Broadcast<B::Shape>,
    D: Device + Receives<A::Place, A::Kind> + Receives<B::Place, B::Kind>,
    A: Operand,
    B: Operand,
{
    let mask = condition.borrow().elements();
    // `MaskFor` is implemented for `bool` only: the condition's elements are bools.
    let mask = View::<_, bool>::new(mask.buffer, mask.offset, mask.sizes, mask.strides);
    choose::<Promoted2<A, B>, Chosen<S, A, B>, D, A, B>(mask, &a, &b)
}

fn choose<P, T, D, A, B>(mask: View<'_, D::Storage, bool>, a: &A, b: &B) -> Result<Tensor<P, T, D>>
where
    P: Dtype,
    T: Shape,
    D: Device + Receives<A::Place, A::Kind> + Receives<B::Place, B::Kind>,
    A: Operand,
    B: Operand,
{
    let (a, b) = (choice::<A, P, D>("where_", a)?, choice::<B, P, D>("where_", b)?);
    let sizes = |of: &[&[usize]]| broadcast_all::<T, P>("where_", of);
    // What is a value and what has elements, types say: one of the four is compiled.
    if const { !is_value::<A, D>() && !is_value::<B, D>() } {
        let (Choice::Elements(a), Choice::Elements(b)) = (a, b) else { unreachable!("both have elements") };
        let sizes = sizes(&[mask.sizes, a.sizes, b.sizes])?;
        return map3::<_, _, _, T, D, _>(Choosing, mask, a, b, sizes, [DType::Bool, P::DTYPE, P::DTYPE]);
    }
    if const { !is_value::<A, D>() } {
        let (Choice::Elements(a), Choice::Value(b)) = (a, b) else { unreachable!("the second is a value") };
        let sizes = sizes(&[mask.sizes, a.sizes])?;
        return map2::<_, _, T, D, _>(ChoosingRight(b), mask, a, sizes, [DType::Bool, P::DTYPE]);
    }
    if const { !is_value::<B, D>() } {
        let (Choice::Value(a), Choice::Elements(b)) = (a, b) else { unreachable!("the first is a value") };
        let sizes = sizes(&[mask.sizes, b.sizes])?;
        return map2::<_, _, T, D, _>(ChoosingLeft(a), mask, b, sizes, [DType::Bool, P::DTYPE]);
    }
    let (Choice::Value(a), Choice::Value(b)) = (a, b) else { unreachable!("both are values") };
    map1::<_, T, D, _>(ChoosingBoth(a, b), mask, sizes(&[mask.sizes])?, DType::Bool)
}

/// The dtype of `x.clamp(low, high)`.
pub(crate) type Clamped<E, S, L, H> = PromotedWith<PromotedWith<E, S, L>, S, H>;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Elements limited to at least `low` and at most `high` (`torch.clamp`), for dtypes with an order. If `low > high` the result is
    /// `high`; NaN stays NaN. The bounds are scalars and promote as in arithmetic (an integer tensor with float bounds gives `f32`); for
    /// tensors as bounds see [`clamp_min`](Self::clamp_min) and [`clamp_max`](Self::clamp_max).
    ///
    /// # Panics
    /// If a bound does not fit the dtype or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![-2, 0, 7].clamp(-1, 5).to_vec(), [-1_i64, 0, 5]);
    /// assert_eq!(tensor![-2, 0, 7].clamp(-0.5, 0.5).to_vec(), [-0.5_f32, 0.0, 0.5]);
    /// ```
    #[doc(alias = "clip")]
    #[fallible]
    pub fn clamp<L: Scalar, H: Scalar>(&self, low: L, high: H) -> Result<Tensor<Clamped<E, S, L, H>, S, D>>
    where
        E: OrderedFor<ops::reduce::clamp>,
        L::Counts: OrderedFor<ops::reduce::clamp>,
        H::Counts: OrderedFor<ops::reduce::clamp>,
    {
        let raised = crate::tensor::elementwise::apply::combine::<ops::clamp_min, E, S, D, L, S, D>(self, &low)?;
        crate::tensor::elementwise::apply::combine::<ops::clamp_max, _, S, D, H, S, D>(&raised, &high)
    }

    /// [`clamp`](Self::clamp) in place. The result must be castable to `E`.
    ///
    /// # Panics
    /// As there; nothing is written then.
    ///
    /// ```
    /// use castiron::tensor;
    /// let mut x = tensor![-2, 0, 7];
    /// x.clamp_(-1, 5);
    /// assert_eq!(x.to_vec(), [-1, 0, 5]);
    /// ```
    #[fallible]
    pub fn clamp_<L: Scalar, H: Scalar>(&mut self, low: L, high: H) -> Result<&mut Self>
    where
        E: OrderedFor<ops::reduce::clamp>,
        L::Counts: OrderedFor<ops::reduce::clamp>,
        H::Counts: OrderedFor<ops::reduce::clamp>,
        Clamped<E, S, L, H>: CanCast<E>,
    {
        scalar_operand::<ops::clamp_max, Clamped<E, S, L, H>>(high.value(), E::DTYPE, false)?;
        update::<ops::clamp_min, E, S, D, L>(self, &low)?;
        update::<ops::clamp_max, E, S, D, H>(self, &high)?;
        Ok(self)
    }
}
