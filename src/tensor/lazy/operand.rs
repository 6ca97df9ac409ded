//! Operands of lazy expressions: other expressions, tensors, references to them, and Rust scalars.

use super::{Applied1, Applied2, Borrowed, Chosen, Extent, Held, Layout, Lazy, Node, Value, extend, sealed};
use crate::device::{Device, Receives};
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::{Kind, KindRank, ScalarKind};
use crate::dtype::{Dtype, Element as _, Scalar};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::BinaryOp;
use crate::ops::admit::MaskFor;
use crate::ops::kernel::{CombiningKinds, CombiningScalar, right_is_exact};
use crate::sealed::Sealed;
use crate::shape::{Broadcast, Shape, SizeArray, broadcast_sizes};
use crate::tensor::elementwise::apply::{broadcast, layout, right_scalar};
use crate::tensor::elementwise::methods::Admits;
use crate::{Tensor, TensorView, TensorViewMut};
use core::marker::PhantomData;

/// The other operand of an operation on a lazy expression on device `D`: an expression, a tensor, a reference to one, or a Rust scalar.
#[diagnostic::on_unimplemented(
    message = "promotion is not defined for `{Self}`",
    label = "expected a lazy expression, a tensor of a computing dtype, a reference to one, or a Rust scalar",
    note = "shell dtypes (u16, u32, u64, float8, float4) have no arithmetic; cast first, for example `.to::<f32>()`"
)]
pub trait LazyOperand<D: Device>: sealed::LazyOperand + Clone {
    /// The dtype in promotion.
    type Elem: Dtype;
    /// Its shape; `()` for scalars.
    type Shape: Shape;
    /// Scalar, zero-dim or dimensioned.
    type Kind: Kind;
    /// The node of `Op` with it on the right, where dtypes promote to `P`.
    #[doc(hidden)]
    type Right<O: BinaryOp, E: Dtype, P: Dtype, S: Shape, X: Node<D, Elem = E>>: Node<D, Elem = O::Output<P>>;
    /// The node of the operand itself; a scalar in the dtype `P`.
    #[doc(hidden)]
    type Alone<P: Dtype>: Node<D>;
    #[doc(hidden)]
    fn right<O: BinaryOp, E: Dtype, P: Dtype, S: Shape, T: Shape, X: Node<D, Elem = E>>(
        self,
        left: (X, Extent<S>),
    ) -> Result<(Self::Right<O, E, P, S, X>, Extent<T>)>;
    #[doc(hidden)]
    fn alone<P: Dtype>(self, op: &'static str) -> Result<(Self::Alone<P>, Extent<Self::Shape>)>;
    /// A scalar in the dtype `P`.
    #[doc(hidden)]
    fn scalar<P: Dtype>(self, _op: &'static str) -> Result<P> {
        unreachable!("only scalars are asked for their value")
    }
}

impl<T: Scalar, D: Device> LazyOperand<D> for T {
    type Elem = T::Counts;
    type Shape = ();
    type Kind = ScalarKind;
    type Right<O: BinaryOp, E: Dtype, P: Dtype, S: Shape, X: Node<D, Elem = E>> =
        Applied1<CombiningScalar<O, P>, X, O::Output<P>>;
    type Alone<P: Dtype> = Value<P>;
    fn right<O: BinaryOp, E: Dtype, P: Dtype, S: Shape, U: Shape, X: Node<D, Elem = E>>(
        self,
        (x, extent): (X, Extent<S>),
    ) -> Result<(Self::Right<O, E, P, S, X>, Extent<U>)> {
        let value = self.value();
        let exact = right_is_exact::<O, P, S::Kind, ScalarKind>();
        let value = right_scalar::<O, P>(extent.sizes.as_ref(), value, E::DTYPE, exact)?;
        // With a scalar operand the shape is the tensor's.
        let extent = extent.beside_scalar(U::Sizes::copied(extent.sizes.as_ref()));
        Ok((Applied1 { kernel: CombiningScalar(value), x, result: PhantomData }, extent))
    }
    fn alone<P: Dtype>(self, op: &'static str) -> Result<(Value<P>, Extent<()>)> {
        Ok((Value(LazyOperand::<D>::scalar(self, op)?), Extent { sizes: [], strides: [] }))
    }
    fn scalar<P: Dtype>(self, op: &'static str) -> Result<P> {
        let value = self.value();
        value.to_dtype().ok_or(Error::ScalarOutOfRange { op, value, dtype: P::DTYPE })
    }
}

/// For an operand that is a node: the node and its extent.
macro_rules! parts {
    ($([$($generics:tt)*] [$($bounds:tt)*] $operand:ty, $elem:ident $shape:ident, $node:ty, |$own:ident| $parts:expr;)*) => {$(
        impl<$($generics)* $elem: Dtype, $shape: Shape, D: Device> LazyOperand<D> for $operand
        where
            $($bounds)*
        {
            type Elem = $elem;
            type Shape = $shape;
            type Kind = $shape::Kind;
            type Right<O: BinaryOp, A: Dtype, P: Dtype, S: Shape, L: Node<D, Elem = A>> =
                Applied2<CombiningKinds<O, P, S::Kind, $shape::Kind>, L, $node, O, P>;
            type Alone<P: Dtype> = $node;
            fn right<O: BinaryOp, A: Dtype, P: Dtype, S: Shape, U: Shape, L: Node<D, Elem = A>>(
                self,
                (x, a): (L, Extent<S>),
            ) -> Result<(Self::Right<O, A, P, S, L>, Extent<U>)> {
                let $own = self;
                let (y, b): ($node, Extent<$shape>) = $parts?;
                let common = O::Computes::<P>::DTYPE;
                let extent = extend::<U, O::Output<P>>(
                    O::NAME,
                    (a.sizes.as_ref(), a.strides.as_ref(), A::DTYPE == common),
                    (b.sizes.as_ref(), b.strides.as_ref(), $elem::DTYPE == common),
                )?;
                Ok((Applied2 { kernel: CombiningKinds::new(), x, y, op: PhantomData }, extent))
            }
            fn alone<P: Dtype>(self, _: &'static str) -> Result<($node, Extent<$shape>)> {
                let $own = self;
                $parts
            }
        }
    )*};
}
parts! {
    [Q: Device, X: Node<D, Elem = F>,] [D: Receives<Q, T::Kind>] Lazy<F, T, Q, X>, F T, X, |lazy| lazy.parts;
    [Q: Device,] [D: Receives<Q, T::Kind>] Tensor<F, T, Q>, F T, Held<F, T, Q>, |tensor| {
        let extent = Extent { sizes: tensor.shape(), strides: tensor.stride() };
        Ok((Held(tensor), extent))
    };
    ['a, Q: Device,] [D: Receives<Q, T::Kind>] &'a Tensor<F, T, Q>, F T, Borrowed<'a, F, T, Q>, |tensor| {
        Ok((Borrowed(tensor), Extent { sizes: tensor.shape(), strides: tensor.stride() }))
    };
    ['a, Q: Device,] [D: Receives<Q, T::Kind>] &'a TensorView<'_, F, T, Q>, F T, Borrowed<'a, F, T, Q>, |view| {
        Ok((Borrowed(view), Extent { sizes: view.shape(), strides: view.stride() }))
    };
    ['a, Q: Device,] [D: Receives<Q, T::Kind>] &'a TensorViewMut<'_, F, T, Q>, F T, Borrowed<'a, F, T, Q>, |view| {
        Ok((Borrowed(view), Extent { sizes: view.shape(), strides: view.stride() }))
    };
}

/// An operand as an expression by itself; a scalar in the dtype `P`.
pub(in crate::tensor) fn alone<P: Dtype, A: LazyOperand<D>, D: Device>(
    of: A,
    op: &'static str,
) -> Lazy<<A::Alone<P> as Node<D>>::Elem, A::Shape, D, A::Alone<P>> {
    Lazy::of(of.alone::<P>(op))
}

/// The promoted dtype of an expression of dtype `E` and shape `S` and the operand `R`.
type PromotedWith<E, S, D, R> =
    ResultType<<S as Shape>::Kind, E, <R as LazyOperand<D>>::Kind, <R as LazyOperand<D>>::Elem>;
/// The dtype of `Op` on an expression of dtype `E` and shape `S` and the operand `R`.
pub type LazyOutcome<Op, E, S, D, R> = <Op as BinaryOp>::Output<PromotedWith<E, S, D, R>>;

/// Types that can be the right operand of `Op` with a lazy expression on the left.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "dtypes do not promote or devices differ: `Lazy<{E}, {S}, {D}, …>` and `{Self}`",
    label = "expected a lazy expression or a tensor of a computing dtype on `{D}`, a reference to one, or a Rust scalar",
    note = "what is on another device is moved first, by `.to_device::<{D}>()`; only a zero-dim CPU tensor joins another device by itself"
)]
pub trait RightOfLazy<Op, E: Dtype, S: Shape, D: Device, X> {
    type Output;
    fn right_of(self, left: Lazy<E, S, D, X>) -> Self::Output;
}
impl<Op, E, S, D, X, R> RightOfLazy<Op, E, S, D, X> for R
where
    E: Dtype,
    S: Shape + Broadcast<R::Shape>,
    D: Device,
    R: LazyOperand<D>,
    Op: BinaryOp + Admits<E, R::Elem, R::Kind>,
    X: Node<D, Elem = E>,
{
    type Output = Lazy<
        LazyOutcome<Op, E, S, D, R>,
        <S as Broadcast<R::Shape>>::Output,
        D,
        R::Right<Op, E, PromotedWith<E, S, D, R>, S, X>,
    >;
    fn right_of(self, left: Lazy<E, S, D, X>) -> Self::Output {
        Lazy::of(left.parts.and_then(|left| self.right::<Op, E, _, S, _, X>(left)))
    }
}

/// The dtype that two operands promote to.
type Promoted2<A, B, D> = ResultType<
    <A as LazyOperand<D>>::Kind,
    <A as LazyOperand<D>>::Elem,
    <B as LazyOperand<D>>::Kind,
    <B as LazyOperand<D>>::Elem,
>;

/// Elements of `a` where the condition is true, else of `b`, as [`where_`](crate::where_) of tensors; the condition is a lazy expression of
/// bools.
///
/// ```
/// use castiron::{lazy, tensor};
/// let x = tensor![-1.5, 0.5, 2.5];
/// assert_eq!(lazy::where_(x.lazy().gt(0), x.lazy() * 2.0, 0.0).eval().to_vec(), [0.0_f32, 1.0, 5.0]);
/// ```
pub fn where_<C, S, D, X, A, B>(
    condition: Lazy<C, S, D, X>,
    a: A,
    b: B,
) -> Lazy<
    Promoted2<A, B, D>,
    <<S as Broadcast<A::Shape>>::Output as Broadcast<B::Shape>>::Output,
    D,
    Chosen<X, A::Alone<Promoted2<A, B, D>>, B::Alone<Promoted2<A, B, D>>, Promoted2<A, B, D>>,
>
where
    C: MaskFor<crate::ops::reduce::where_>,
    S: Shape + Broadcast<A::Shape>,
    <S as Broadcast<A::Shape>>::Output: Broadcast<B::Shape>,
    D: Device,
    X: Node<D, Elem = C>,
    A: LazyOperand<D>,
    B: LazyOperand<D>,
{
    Lazy::of(choose::<Promoted2<A, B, D>, _, _, _, _, _, _>(condition.parts, a, b))
}

fn choose<P: Dtype, S: Shape, T: Shape, D: Device, X, A: LazyOperand<D>, B: LazyOperand<D>>(
    condition: Result<(X, Extent<S>)>,
    a: A,
    b: B,
) -> Result<(Chosen<X, A::Alone<P>, B::Alone<P>, P>, Extent<T>)> {
    let ((condition, of), (a, of_a), (b, of_b)) = (condition?, a.alone::<P>("where_")?, b.alone::<P>("where_")?);
    let scalars = [A::Kind::RANK, B::Kind::RANK].map(|kind| matches!(kind, KindRank::Scalar));
    let of_a = (of_a.sizes.as_ref(), of_a.strides.as_ref(), A::Elem::DTYPE == P::DTYPE);
    let of_b = (of_b.sizes.as_ref(), of_b.strides.as_ref(), B::Elem::DTYPE == P::DTYPE);
    let of = (of.sizes.as_ref(), of.strides.as_ref(), true);
    let extent = match scalars {
        [false, false] => extend_all::<T, P>("where_", &[of, of_a, of_b])?,
        [false, true] => extend::<T, P>("where_", of, of_a)?,
        [true, false] => extend::<T, P>("where_", of, of_b)?,
        [true, true] => {
            let (sizes, strides) = (T::Sizes::copied(of.0), T::Sizes::copied(of.1));
            Extent::<T> { sizes, strides }.beside_scalar(sizes)
        }
    };
    Ok((Chosen { parts: (condition, a, b), result: PhantomData }, extent))
}

/// The extent of a result of several operands. The first is broadcast to the size of the others together.
pub(super) fn extend_all<T: Shape, P: Dtype>(op: &'static str, operands: &[Layout]) -> Result<Extent<T>> {
    let (first, others) = operands.split_first().map_or((&[][..], operands), |(first, others)| (first.0, others));
    let mut all: Vec<usize> = Vec::new();
    for (at, other) in others.iter().enumerate() {
        let mut both = vec![1; all.len().max(other.0.len())];
        if at == 0 {
            both.copy_from_slice(other.0);
        } else if !broadcast_sizes(&all, other.0, &mut both) {
            return Err(Error::Broadcast { op, lhs: all[..].into(), rhs: other.0.into() });
        }
        all = both;
    }
    let sizes = broadcast::<T, P>(op, first, &all)?;
    let alike = operands.iter().all(|operand| operand.0 == sizes.as_ref());
    let layouts: Vec<T::Sizes> =
        operands.iter().map(|&(from, strides, is_common)| layout(from, strides, &sizes, is_common)).collect();
    Ok(Extent { sizes, strides: strides::elementwise_result(&sizes, &layouts, alike) })
}

/// The conversion that [`fused!`](crate::fused!) applies to each name in an expression: a tensor becomes lazy, a scalar is unchanged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of `fused!`",
    label = "expected a tensor, a view, a lazy expression or a Rust scalar",
    note = "what Rust computes before stands in braces: `{{ f(n + 1) }}`",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`; an `AnyTensor` becomes typed by `.typed::<E, S, D>()?`"
)]
pub trait Begin: Sealed {
    /// Its node in the expression.
    type Output;
    /// Converts the operand.
    fn begin(self) -> Self::Output;
}
impl<'a, E: Dtype, S: Shape, D: Device> Begin for &'a Tensor<E, S, D> {
    type Output = Lazy<E, S, D, Borrowed<'a, E, S, D>>;
    fn begin(self) -> Self::Output {
        self.lazy()
    }
}
impl<'a, E: Dtype, S: Shape, D: Device> Begin for &&'a Tensor<E, S, D> {
    type Output = Lazy<E, S, D, Borrowed<'a, E, S, D>>;
    fn begin(self) -> Self::Output {
        self.lazy()
    }
}
/// For a view it writes `impl Begin`.
macro_rules! views {
    ($($view:ident),*) => {$(
        impl<'a, E: Dtype, S: Shape, D: Device> Begin for &'a $view<'_, E, S, D> {
            type Output = Lazy<E, S, D, Borrowed<'a, E, S, D>>;
            fn begin(self) -> Self::Output {
                self.lazy()
            }
        }
        impl<'a, E: Dtype, S: Shape, D: Device> Begin for &&'a $view<'_, E, S, D> {
            type Output = Lazy<E, S, D, Borrowed<'a, E, S, D>>;
            fn begin(self) -> Self::Output {
                self.lazy()
            }
        }
    )*};
}
views!(TensorView, TensorViewMut);
impl<E: Dtype, S: Shape, D: Device, X: Clone> Begin for &Lazy<E, S, D, X> {
    type Output = Lazy<E, S, D, X>;
    fn begin(self) -> Self::Output {
        self.clone()
    }
}
impl<T: Scalar> Begin for &T {
    type Output = T;
    fn begin(self) -> T {
        *self
    }
}
