//! Formulas of one's own (`ops::formula`) applied to tensors and to lazy expressions.

#[cfg(feature = "grad")]
use super::Steps;
use super::operand::{LazyOperand, extend_all};
use super::{Applied1, Extent, Layout, Lazy, Node, extend, sealed};
use crate::Tensor;
use crate::device::Device;
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::{Kind, KindRank};
use crate::dtype::{DType, Dtype, Element};
use crate::error::Result;
use crate::ops::expression::{
    Each1, Each2, Each3, Each4, Each5, Each6, Expression, Mapped2, Mapped3, Mapped4, Mapped5, Mapped6,
};
use crate::ops::formula::{
    Among, ApplyingEach, ApplyingFormula, BesideNumber, Five, Formula, Four, Gives, Holds, Kinds, Named, One, ResultOf,
    SingleFormula, Six, Three, Two,
};
use crate::ops::kernel::Map1;
use crate::sealed::Sealed;
use crate::shape::{Broadcast, Shape, SizeArray};
use core::marker::PhantomData;

/// The operands of a formula besides the first: `()`, one, or several as a tuple. `Count` is how many the formula has.
#[diagnostic::on_unimplemented(
    message = "the formula can't be applied to a tensor of dtype `{E}` on `{D}` and `{Self}`",
    label = "no operands of this formula",
    note = "the operands after the first are `()`, one tensor or scalar, or several as a tuple, as many as the formula has",
    note = "they and the tensor promote to a dtype of the formula's set, and their shapes broadcast: `.to::<f32>()` converts for a formula of `Float`, `.to::<i64>()` for one of `Integer`; operands that are masks are tensors of bools, `x.ne(0)`"
)]
pub trait OperandsBeside<Count, E: Dtype, S: Shape, D: Device>: Sealed + Clone {
    /// The dtype that is computed in: what the operands promote to, from left to right.
    type Computes: Dtype;
    /// The dtype of the result: the same, or `bool` if the formula gives a mask.
    type Elem: Dtype;
    /// The shape of the result.
    type Shape: Shape;
    #[doc(hidden)]
    type Node<F: SingleFormula, X: Node<D, Elem = E>>: Node<D, Elem = Self::Elem>;
    #[doc(hidden)]
    fn beside<F: SingleFormula, X: Node<D, Elem = E>>(
        self,
        x: (X, Extent<S>),
    ) -> Result<(Self::Node<F, X>, Extent<Self::Shape>)>;
    /// All results of a formula that gives `N`, in one pass.
    #[doc(hidden)]
    fn at_once<F: Formula, X: Node<D, Elem = E>, const N: usize>(
        self,
        x: (X, Extent<S>),
    ) -> Result<[Tensor<Self::Elem, Self::Shape, D>; N]>;
    /// The formula of a tensor.
    #[doc(hidden)]
    fn of_tensor<F: SingleFormula>(self, x: &Tensor<E, S, D>) -> Result<Tensor<Self::Elem, Self::Shape, D>> {
        x.lazy().applied::<F, Count, Self>(self).try_eval()
    }
    /// The tensor becomes what the formula gives of it.
    #[doc(hidden)]
    fn in_place<F: SingleFormula>(self, x: &mut Tensor<E, S, D>) -> Result<()> {
        by_way_of_a_copy::<F, Count, Self, E, S, D>(self, x)
    }
}

fn by_way_of_a_copy<F: SingleFormula, Count, R: OperandsBeside<Count, E, S, D>, E: Dtype, S: Shape, D: Device>(
    operands: R,
    x: &mut Tensor<E, S, D>,
) -> Result<()> {
    let result = x.lazy().applied::<F, Count, R>(operands).try_eval()?;
    result.lazy().written_into(x, F::NAME)
}

#[diagnostic::do_not_recommend]
impl<K: Kinds, E: Dtype, S: Shape, D: Device> OperandsBeside<One<K>, E, S, D> for ()
where
    E: Among<K::Set>,
    K::At0: Holds<E>,
{
    type Computes = E;
    type Elem = Given<K, E>;
    type Shape = S;
    type Node<F: SingleFormula, X: Node<D, Elem = E>> = Applied1<ApplyingFormula<F, E>, X, Self::Elem>;
    fn beside<F: SingleFormula, X: Node<D, Elem = E>>(
        self,
        (x, extent): (X, Extent<S>),
    ) -> Result<(Self::Node<F, X>, Extent<S>)> {
        Ok((Applied1 { kernel: ApplyingFormula::new(), x, result: PhantomData }, extent.of_one()))
    }
    fn at_once<F: Formula, X: Node<D, Elem = E>, const N: usize>(
        self,
        x: (X, Extent<S>),
    ) -> Result<[Tensor<Self::Elem, S, D>; N]> {
        let (node, extent) = <Self as OperandsBeside<One<K>, E, S, D>>::beside::<ResultOf<F, 0>, X>(self, x)?;
        // SAFETY: the node holds its tensors until all is computed.
        evaluated::<_, _, _, D, N>(extent, |sizes| unsafe {
            Ok(Each1::new(ApplyingEach::<F, E>::new(), node.x.expression(sizes)?))
        })
    }
    // A kernel of one operand is less to compile than an expression: its loop is of contiguous elements.
    fn of_tensor<F: SingleFormula>(self, x: &Tensor<E, S, D>) -> Result<Tensor<Self::Elem, S, D>> {
        if const { F::SIDE_BY_SIDE } {
            return x.lazy().applied::<F, One<K>, ()>(self).try_eval();
        }
        let kernel = ApplyingFormula::<F, E>::new();
        mapped(x, kernel, Extent { sizes: x.shape(), strides: x.stride() }.of_one())
    }
    fn in_place<F: SingleFormula>(self, x: &mut Tensor<E, S, D>) -> Result<()> {
        D::update1::<E>(ApplyingFormula::<F, E>::new(), x.elements_mut()?)
    }
}

/// A kernel of each element.
fn mapped<E: Dtype, O: Dtype, S: Shape, T: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    kernel: impl Map1<E, O>,
    Extent { sizes, strides }: Extent<T>,
) -> Result<Tensor<O, T, D>> {
    Ok(Tensor::from_parts(D::map1(kernel, x.elements(), strides.as_ref())?, 0, sizes, strides))
}
/// Whether a device computes expressions one operation after another.
const fn records<D: Device>() -> bool {
    #[cfg(feature = "grad")]
    return D::RECORDS;
    #[cfg(not(feature = "grad"))]
    false
}

/// The results of an expression, made for the sizes of this extent.
fn evaluated<X: Expression<Elem = [O; N]>, O: Element, S: Shape, D: Device, const N: usize>(
    extent: Extent<S>,
    expression: impl FnOnce(&[usize]) -> Result<X>,
) -> Result<[Tensor<O, S, D>; N]> {
    let Extent { sizes, strides } = extent.without_gaps();
    // SAFETY: the expression is made for these sizes, and its maker holds its tensors; the strides leave no gaps.
    let run = || unsafe { D::evaluate_each(expression(sizes.as_ref())?, sizes.as_ref(), strides.as_ref()) };
    let all = D::fused(O::DTYPE, sizes.as_ref(), None, run)?;
    Ok(all.map(|storage| Tensor::from_parts(storage, 0, sizes, strides)))
}

/// The dtype of the result of a formula that computes in `P`.
type Given<K, P> = <<K as Kinds>::Gives as Gives>::Elem<P>;

/// The dtype of a tensor or expression and an operand.
type Promoted<E, S, A, D> = ResultType<<S as Shape>::Kind, E, <A as LazyOperand<D>>::Kind, <A as LazyOperand<D>>::Elem>;
/// Their shape.
type Both<S, A, D> = <S as Broadcast<<A as LazyOperand<D>>::Shape>>::Output;
/// The dtype of a tensor or expression and all of a list of operands.
macro_rules! promoted {
    ($E:ty, $S:ty, $D:ident:) => { $E };
    ($E:ty, $S:ty, $D:ident: $A:ident $($rest:ident)*) => { promoted!(Promoted<$E, $S, $A, $D>, Both<$S, $A, $D>, $D: $($rest)*) };
}
/// Their shape.
macro_rules! shape_of {
    ($S:ty, $D:ident:) => { $S };
    ($S:ty, $D:ident: $A:ident $($rest:ident)*) => { shape_of!(Both<$S, $A, $D>, $D: $($rest)*) };
}

/// The extent of a result of a tensor or expression and of operands beside it; scalars are `None`.
fn beside<S: Shape, T: Shape, P: Dtype>(
    op: &'static str,
    of: (Extent<S>, DType),
    others: &[Option<Layout<'_>>],
) -> Result<Extent<T>> {
    let (of, dtype) = of;
    let mut operands = vec![(of.sizes.as_ref(), of.strides.as_ref(), dtype == P::DTYPE)];
    operands.extend(others.iter().flatten());
    match operands[..] {
        [_] => Ok(of.beside_scalar(T::Sizes::copied(of.sizes.as_ref()))),
        [a, b] => extend::<T, P>(op, a, b),
        _ => extend_all::<T, P>(op, &operands),
    }
}
/// The layout of an operand that is no scalar.
fn layout_of<'a, A: LazyOperand<D>, D: Device, P: Dtype>(of: &'a Extent<A::Shape>) -> Option<Layout<'a>> {
    let is_scalar = matches!(A::Kind::RANK, KindRank::Scalar);
    (!is_scalar).then(|| (of.sizes.as_ref(), of.strides.as_ref(), A::Elem::DTYPE == P::DTYPE))
}

/// For each number of operands: the operands beside the first, and the node of the formula applied to all.
///
/// A tape records a formula of up to three operands as castiron's own; one of more is a step of its own (`several`).
macro_rules! counts {
    ($($Count:ident $Node:ident $Mapped:ident $Each:ident $each:ident $doc:literal: $tuple:ty, $($a:ident $A:ident $X:ident $At:ident $of:ident { $($before:ident)* }),*;)*) => {$(
        #[doc(hidden)] // On every page of an operand, else; the trait's own text says who has it.
        #[diagnostic::do_not_recommend]
        impl<K: Kinds, E: Dtype, S: Shape, D: Device, $($A: LazyOperand<D>),*> OperandsBeside<$Count<K>, E, S, D> for $tuple
        where
            $(shape_of!(S, D: $($before)*): Broadcast<$A::Shape>,)*
            promoted!(E, S, D: $($A)*): Among<K::Set>,
            K::At0: Holds<E>,
            $(K::$At: Holds<$A::Elem>,)*
        {
            type Computes = promoted!(E, S, D: $($A)*);
            type Elem = Given<K, Self::Computes>;
            type Shape = shape_of!(S, D: $($A)*);
            type Node<F: SingleFormula, X: Node<D, Elem = E>> = $Node<F, X, $($A::Alone<Self::Computes>,)* Self::Computes, Self::Elem>;
            fn beside<F: SingleFormula, X: Node<D, Elem = E>>(
                self,
                (x, of): (X, Extent<S>),
            ) -> Result<(Self::Node<F, X>, Extent<Self::Shape>)> {
                let counts!(@tuple $($a)*) = self;
                $(let ($a, $of) = $a.alone::<Self::Computes>(F::NAME)?;)*
                let others = [$(layout_of::<$A, D, Self::Computes>(&$of)),*];
                let extent = beside::<S, Self::Shape, Self::Computes>(F::NAME, (of, E::DTYPE), &others)?;
                Ok(($Node { x, $($a,)* of: PhantomData }, extent))
            }
            fn at_once<F: Formula, X: Node<D, Elem = E>, const N: usize>(
                self,
                x: (X, Extent<S>),
            ) -> Result<[Tensor<Self::Elem, Self::Shape, D>; N]> {
                let (node, extent) = <Self as OperandsBeside<$Count<K>, E, S, D>>::beside::<ResultOf<F, 0>, X>(self, x)?;
                // SAFETY: the node holds its tensors until all is computed.
                evaluated::<_, _, _, D, N>(extent, |sizes| unsafe {
                    let (x, $($a),*) = (node.x.expression(sizes)?, $(node.$a.expression(sizes)?),*);
                    Ok($Each::new(ApplyingEach::<F, Self::Computes>::new(), x, $($a),*))
                })
            }
            counts! { @in_place $Count $tuple }
        }

        #[doc = $doc]
        pub struct $Node<F, X, $($X,)* P, O> {
            x: X,
            $($a: $X,)*
            of: PhantomData<fn() -> (F, P, O)>,
        }
        impl<F, X: Clone, $($X: Clone,)* P, O> Clone for $Node<F, X, $($X,)* P, O> {
            fn clone(&self) -> Self {
                $Node { x: self.x.clone(), $($a: self.$a.clone(),)* of: PhantomData }
            }
        }
        impl<F, X, $($X,)* P, O> sealed::Node for $Node<F, X, $($X,)* P, O> {}
        impl<F: SingleFormula, D: Device, X: Node<D>, $($X: Node<D>,)* P: Dtype, O: Dtype> Node<D> for $Node<F, X, $($X,)* P, O> {
            type Elem = O;
            type Expression = $Mapped<ApplyingFormula<F, P>, X::Expression, $($X::Expression,)* O>;
            #[cfg(feature = "grad")]
            fn each(&self, sizes: &[usize]) -> Result<Steps<'_, O, D>> {
                let (x, $($a),*) = (self.x.each(sizes)?.0, $(self.$a.each(sizes)?.0),*);
                let (x, $($a),*) = (x.expand(F::NAME, sizes)?, $($a.expand(F::NAME, sizes)?),*);
                $each::<F, P, O, D, X::Elem, $($X::Elem),*>(x, $($a),*).map(Steps)
            }
            unsafe fn expression(&self, sizes: &[usize]) -> Result<Self::Expression> {
                // SAFETY: the caller's promise; the tensors are here.
                let (x, $($a),*) = unsafe { (self.x.expression(sizes)?, $(self.$a.expression(sizes)?),*) };
                Ok($Mapped::new(ApplyingFormula::<F, P>::new(), x, $($a),*))
            }
        }
    )*};
    (@in_place Two $A:ty) => {
        // As of one operand, if the other is a number.
        fn of_tensor<F: SingleFormula>(self, x: &Tensor<E, S, D>) -> Result<Tensor<Self::Elem, Self::Shape, D>> {
            if const { records::<D>() || F::SIDE_BY_SIDE || !matches!(<$A as LazyOperand<D>>::Kind::RANK, KindRank::Scalar) } {
                return x.lazy().applied::<F, Two<K>, $A>(self).try_eval();
            }
            let kernel = BesideNumber(ApplyingFormula::<F, Self::Computes>::new(), self.scalar(F::NAME)?);
            let of = Extent::<S> { sizes: x.shape(), strides: x.stride() };
            mapped(x, kernel, of.beside_scalar(<Self::Shape as Shape>::Sizes::copied(of.sizes.as_ref())))
        }
        fn in_place<F: SingleFormula>(self, x: &mut Tensor<E, S, D>) -> Result<()> {
            #[cfg(feature = "grad")]
            if const { D::RECORDS } {
                return by_way_of_a_copy::<F, Two<K>, Self, E, S, D>(self, x);
            }
            if F::SIDE_BY_SIDE {
                return by_way_of_a_copy::<F, Two<K>, Self, E, S, D>(self, x);
            }
            let (y, of) = self.alone::<Self::Computes>(F::NAME)?;
            let sizes = x.shape();
            super::operators::fits(F::NAME, of.sizes.as_ref(), sizes.as_ref())?;
            // SAFETY: the operand broadcasts to the sizes of `x`, and the node holds its tensor. That is not written: `x` is borrowed
            // exclusively, and storage that is shared with it is copied before.
            unsafe {
                let y = y.expression(sizes.as_ref())?;
                let x = x.elements_mut()?;
                let kernel = ApplyingFormula::<F, Self::Computes>::new();
                D::fused(E::DTYPE, sizes.as_ref(), None, || D::evaluate_update(kernel, y, x))
            }
        }
    };
    (@in_place $Count:ident $tuple:ty) => {};
    (@tuple $a:ident) => { $a };
    (@tuple $($a:ident)*) => { ($($a),*) };
}
counts! {
    Two OfTwo Mapped2 Each2 each_of_two "A formula of two operands.": A, a A Y At1 of_a {};
    Three OfThree Mapped3 Each3 each_of_three "A formula of three operands.": (A, B), a A Y At1 of_a {}, b B Z At2 of_b { A };
    Four OfFour Mapped4 Each4 each_of_four "A formula of four operands.": (A, B, C), a A Y At1 of_a {}, b B Z At2 of_b { A }, c C V At3 of_c { A B };
    Five OfFive Mapped5 Each5 each_of_five "A formula of five operands.": (A, B, C, G), a A Y At1 of_a {}, b B Z At2 of_b { A }, c C V At3 of_c { A B }, g G U At4 of_g { A B C };
    Six OfSix Mapped6 Each6 each_of_six "A formula of six operands.": (A, B, C, G, H), a A Y At1 of_a {}, b B Z At2 of_b { A }, c C V At3 of_c { A B }, g G U At4 of_g { A B C }, h H W At5 of_h { A B C G };
}

#[cfg(any(feature = "any", feature = "grad"))]
use crate::composite::{Erased, Owned};
/// A formula of elements.
#[cfg(feature = "any")]
pub(crate) fn each_of_one<F: SingleFormula, P: Dtype, O: Dtype, D: Device>(x: Erased<'_, P, D>) -> Result<Owned<O, D>> {
    x.map1::<O>(F::NAME, ApplyingFormula::<F, P>::new())
}
/// On a device that records, operands have the sizes of the result.
#[cfg(any(feature = "any", feature = "grad"))]
pub(crate) fn each_of_two<F: SingleFormula, P: Dtype, O: Dtype, D: Device, A: Dtype, B: Dtype>(
    a: Erased<'_, A, D>,
    b: Erased<'_, B, D>,
) -> Result<Owned<O, D>> {
    a.map2::<B, O>(F::NAME, ApplyingFormula::<F, P>::new(), &b)
}
#[cfg(any(feature = "any", feature = "grad"))]
pub(crate) fn each_of_three<F: SingleFormula, P: Dtype, O: Dtype, D: Device, A: Dtype, B: Dtype, C: Dtype>(
    a: Erased<'_, A, D>,
    b: Erased<'_, B, D>,
    c: Erased<'_, C, D>,
) -> Result<Owned<O, D>> {
    let sizes = crate::layout::dims::Dims::known(a.sizes());
    let kernel = ApplyingFormula::<F, P>::new();
    let value = D::map3::<A, B, C, O>(kernel, a.view(), b.view(), c.view(), &sizes.row_major())?;
    Ok(Erased::dense(value, sizes))
}
/// A formula of more operands, all of its result's dtype and sizes, as a step of its own.
#[cfg(any(feature = "any", feature = "grad"))]
struct Several<F, P, O, const COUNT: usize>(PhantomData<fn() -> (F, P, O)>);
#[cfg(any(feature = "any", feature = "grad"))]
impl<F, P, O, const COUNT: usize> Clone for Several<F, P, O, COUNT> {
    fn clone(&self) -> Self {
        Several(PhantomData)
    }
}
#[cfg(any(feature = "any", feature = "grad"))]
mod several {
    use super::*;
    #[cfg(feature = "grad")]
    use crate::composite::primitive::{Back, Perhaps, read};
    use crate::composite::primitive::{On, Primitive};
    use crate::device::Receives;
    use crate::dtype::scalar::Dimensioned;
    #[cfg(feature = "grad")]
    use crate::grad::several_derivative;
    use crate::layout::dims::Dims;
    use crate::ops::expression::Leaf;

    fn leaf<P: Dtype, D: Device>(x: &Erased<'_, P, D>) -> Result<Leaf<P>> {
        <D as Receives<D, Dimensioned>>::part(x.view(), x.sizes())
    }
    macro_rules! several {
        ($($each:ident $Mapped:ident $count:literal $reads:literal: $x:ident $X:ident $first:tt $P:ident $(, $a:ident $A:ident $at:tt $Q:ident)*;)*) => {$(
            pub(crate) fn $each<F: SingleFormula, P: Dtype, O: Dtype, D: Device, $X: Dtype, $($A: Dtype),*>(
                $x: Erased<'_, $X, D>,
                $($a: Erased<'_, $A, D>),*
            ) -> Result<Owned<O, D>> {
                let operands = ($x.to::<P>(F::NAME)?, $($a.to::<P>(F::NAME)?),*);
                Ok(D::primitive(&Several::<F, P, O, $count>(PhantomData), operands)?.0)
            }
            impl<F: SingleFormula, P: Dtype, O: Dtype> Primitive for Several<F, P, O, $count> {
                type Operands = ($P, $($Q),*);
                type Results = (O,);
                fn op(&self) -> &'static str {
                    F::NAME
                }
                fn run<D: Device>(&self, x: On<'_, Self::Operands, D>) -> Result<On<'static, (O,), D>> {
                    let sizes = Dims::known(x.0.sizes());
                    let expression = $Mapped::<_, _, $(Leaf<several!(@$A $Q)>,)* O>::new(
                        ApplyingFormula::<F, P>::new(), leaf(&x.$first)?, $(leaf(&x.$at)?),*
                    );
                    // SAFETY: the operands have these sizes, and outlive this call; the strides leave no gaps.
                    let storage = unsafe { D::evaluate_beside(x.$first.storage(), expression, &sizes, &sizes.row_major())? };
                    Ok((Erased::dense(storage, sizes),))
                }
                #[cfg(feature = "grad")]
                const READS: [u32; 2] = [$reads, 0];
                #[cfg(feature = "grad")]
                fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, Self::Operands, D>> {
                    let (Some(g),) = &back.g else { return Ok(Default::default()) };
                    let g = g.to::<P>(F::NAME)?;
                    let x = [read(&back.x.$first)?, $(read(&back.x.$at)?),*];
                    let by = |at: usize| {
                        let wanted = back.wants[at].then(|| several_derivative::<F, P, D>(at, &x, &g));
                        wanted.transpose()
                    };
                    Ok((by($first)?, $(by($at)?),*))
                }
            }
        )*};
        (@$A:ident $Q:ident) => { $Q };
    }
    several! {
        each_of_four Mapped4 4 0b1111: x X 0 P, a A 1 P, b B 2 P, c C 3 P;
        each_of_five Mapped5 5 0b11111: x X 0 P, a A 1 P, b B 2 P, c C 3 P, g G 4 P;
        each_of_six Mapped6 6 0b111111: x X 0 P, a A 1 P, b B 2 P, c C 3 P, g G 4 P, h H 5 P;
    }
}
#[cfg(any(feature = "any", feature = "grad"))]
pub(crate) use several::{each_of_five, each_of_four, each_of_six};

impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
    /// A [formula](macro@crate::formula) applied to each element, as [`Tensor::apply`](crate::Tensor::apply), in the same pass as the rest.
    pub fn apply<F, R>(self, _formula: F, operands: R) -> Lazy<R::Elem, R::Shape, D, R::Node<F::Formula, X>>
    where
        F: Named<Formula: SingleFormula>,
        R: OperandsBeside<<F::Formula as Formula>::Operands, E, S, D>,
    {
        self.applied::<F::Formula, _, R>(operands)
    }

    pub(super) fn applied<F: SingleFormula, Count, R: OperandsBeside<Count, E, S, D>>(
        self,
        operands: R,
    ) -> Lazy<R::Elem, R::Shape, D, R::Node<F, X>> {
        Lazy::of(self.parts.and_then(|x| operands.beside::<F, X>(x)))
    }
}
