//! Operands of joins: tensors and views of any dtype, which devices and dtypes can be joined, and the dtype and shape of several.

use crate::device::{Backend, Device};
use crate::dtype::shell::*;
use crate::dtype::table::types_of;
use crate::dtype::{Dtype, Element};
use crate::sealed::Sealed;
use crate::shape::{Concat, Shape, StackedOn};
use crate::storage::View;
use crate::tensor::base::assign::Inside;
use crate::tensor::{Tensor, TensorView, TensorViewMut};

/// Elements of dtype `Self` and of dtype `Rhs` can be joined into one tensor: all computing dtypes (which promote), and each shell dtype
/// with itself.
#[diagnostic::on_unimplemented(
    message = "tensors of dtypes `{Self}` and `{Rhs}` can't be joined: promotion is not defined for shell dtypes",
    label = "a shell dtype joins its own kind only",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait JoinDtype<Rhs>: Element {
    /// The dtype of the joined tensor.
    type Output: Element;
}
impl<A: Dtype, B: Dtype> JoinDtype<B> for A {
    type Output = A::With<B>;
}
macro_rules! shells {
    ($($shell:ty),*) => {$(
        impl JoinDtype<$shell> for $shell {
            type Output = $shell;
        }
    )*};
}
types_of!(shells shells);

/// A tensor or a reference to one, of any dtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strided tensor",
    label = "expected a tensor or a reference to one",
    note = "make a sparse one strided with `.to_dense()`, memory a tensor with `TensorView::from_slice`, a number one with `tensor![…]`"
)]
pub trait Piece: Sealed {
    /// Its dtype.
    type Elem: Element;
    /// Its shape.
    type Shape: Shape;
    /// Its device.
    type Device: Device;
    #[doc(hidden)]
    fn elements(&self, _: Inside) -> View<'_, <Self::Device as Backend>::Storage, Self::Elem>;
    #[doc(hidden)]
    fn tensor(&self) -> Tensor<Self::Elem, Self::Shape, Self::Device>;
}
impl<E: Element, S: Shape, D: Device> Piece for Tensor<E, S, D> {
    type Elem = E;
    type Shape = S;
    type Device = D;
    fn elements(&self, _: Inside) -> View<'_, D::Storage, E> {
        Tensor::elements(self)
    }
    fn tensor(&self) -> Self {
        self.clone()
    }
}
/// For a view it writes `impl Piece`.
macro_rules! views {
    ($($view:ident),*) => {$(
        impl<E: Element, S: Shape, D: Device> Piece for $view<'_, E, S, D> {
            type Elem = E;
            type Shape = S;
            type Device = D;
            fn elements(&self, _: Inside) -> View<'_, D::Storage, E> {
                Tensor::elements(self)
            }
            fn tensor(&self) -> Tensor<E, S, D> {
                Tensor::clone(self)
            }
        }
    )*};
}
views!(TensorView, TensorViewMut);
impl<P: Piece> Piece for &P {
    type Elem = P::Elem;
    type Shape = P::Shape;
    type Device = P::Device;
    fn elements(&self, _: Inside) -> View<'_, <P::Device as Backend>::Storage, P::Elem> {
        (**self).elements(Inside)
    }
    fn tensor(&self) -> Tensor<P::Elem, P::Shape, P::Device> {
        (**self).tensor()
    }
}

/// Two pieces on one device.
#[diagnostic::on_unimplemented(
    message = "tensors on different devices can't be joined: `{Self}` and `{Other}`",
    label = "these tensors are on different devices",
    note = "move one of them with `.to_device::<{Self}>()`"
)]
pub trait SamePlace<Other>: Device {
    #[doc(hidden)]
    fn here<'a, O: Piece<Device = Other>>(other: &'a O) -> View<'a, Self::Storage, O::Elem>
    where
        Other: Device;
}
impl<D: Device> SamePlace<D> for D {
    fn here<'a, O: Piece<Device = D>>(other: &'a O) -> View<'a, D::Storage, O::Elem> {
        other.elements(Inside)
    }
}

/// The dtype and shape of concatenated tensors.
pub trait Folded<const I: isize> {
    type Elem: Element;
    type Concatenated: Shape;
}
/// The dtype and shape of tensors that must all have one shape.
pub trait FoldedSame {
    type Elem: Element;
    type Merged: Shape;
}

macro_rules! folds {
    ($([$first:ident $second:ident $($rest:ident)*];)*) => {$(
        impl<const I: isize, $first: Piece, $second: Piece, $($rest: Piece,)*> Folded<I> for ($first, $second, $($rest,)*)
        where
            Fold<$first::Elem, $first::Shape>: ConcatFold<I, ($second, $($rest,)*)>,
        {
            type Elem = <Fold<$first::Elem, $first::Shape> as ConcatFold<I, ($second, $($rest,)*)>>::Elem;
            type Concatenated = <Fold<$first::Elem, $first::Shape> as ConcatFold<I, ($second, $($rest,)*)>>::Shape;
        }
        impl<$first: Piece, $second: Piece, $($rest: Piece,)*> FoldedSame for ($first, $second, $($rest,)*)
        where
            Fold<$first::Elem, $first::Shape>: MergeFold<($second, $($rest,)*)>,
        {
            type Elem = <Fold<$first::Elem, $first::Shape> as MergeFold<($second, $($rest,)*)>>::Elem;
            type Merged = <Fold<$first::Elem, $first::Shape> as MergeFold<($second, $($rest,)*)>>::Shape;
        }
        impl<const I: isize, E: Element, S: Shape, Both, Met, $second: Piece, $($rest: Piece,)*> ConcatFold<I, ($second, $($rest,)*)> for Fold<E, S>
        where
            E: JoinDtype<$second::Elem, Output = Both>,
            S: Concat<I, $second::Shape, Output = Met>,
            Fold<Both, Met>: ConcatFold<I, ($($rest,)*)>,
        {
            type Elem = <Fold<Both, Met> as ConcatFold<I, ($($rest,)*)>>::Elem;
            type Shape = <Fold<Both, Met> as ConcatFold<I, ($($rest,)*)>>::Shape;
        }
        impl<E: Element, S: Shape, Both, Met, $second: Piece, $($rest: Piece,)*> MergeFold<($second, $($rest,)*)> for Fold<E, S>
        where
            E: JoinDtype<$second::Elem, Output = Both>,
            S: StackedOn<$second::Shape, Output = Met>,
            Fold<Both, Met>: MergeFold<($($rest,)*)>,
        {
            type Elem = <Fold<Both, Met> as MergeFold<($($rest,)*)>>::Elem;
            type Shape = <Fold<Both, Met> as MergeFold<($($rest,)*)>>::Shape;
        }
    )*};
}
/// The dtype and shape of the tensors up to here.
pub struct Fold<E, S>(core::marker::PhantomData<(E, S)>);
/// A fold continued by further tensors, concatenated.
pub trait ConcatFold<const I: isize, Rest> {
    type Elem: Element;
    type Shape: Shape;
}
impl<const I: isize, E: Element, S: Shape> ConcatFold<I, ()> for Fold<E, S> {
    type Elem = E;
    type Shape = S;
}
/// A fold continued by further tensors of the same shape.
pub trait MergeFold<Rest> {
    type Elem: Element;
    type Shape: Shape;
}
impl<E: Element, S: Shape> MergeFold<()> for Fold<E, S> {
    type Elem = E;
    type Shape = S;
}
folds! {
    [A B]; [A B C]; [A B C F]; [A B C F G]; [A B C F G H]; [A B C F G H J]; [A B C F G H J K];
}
