//! The seal of traits that castiron alone implements: rules of shapes, dtypes and devices, and what its functions take beside tensors. Code
//! relies on what they say, and a later version may ask more of them. (`Dim` and the rules of two dimensions are open: `dims!` writes them
//! for a user's type. Where a trait needs a sentence of its own, it has a seal of its own.)

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::shape::Shape;
use crate::tensor::lazy::Lazy;
use crate::tensor::{Layout, Tensor, TensorView, TensorViewMut};

/// The types that these traits are implemented for: castiron's own, and the standard library's. Users' types do not have it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't implement a trait that is castiron's alone",
    label = "this trait is castiron's alone",
    note = "the documentation of the trait lists what implements it"
)]
pub trait Sealed {}

impl<E: Element, S: Shape, D: Device, L: Layout> Sealed for Tensor<E, S, D, L> {}
impl<E: Element, S: Shape, D: Device> Sealed for TensorView<'_, E, S, D> {}
impl<E: Element, S: Shape, D: Device> Sealed for TensorViewMut<'_, E, S, D> {}
impl<E: Dtype, S: Shape, D: Device, X> Sealed for Lazy<E, S, D, X> {}
#[cfg(feature = "grad")]
impl<D: Device> Sealed for crate::grad::Taped<D> {}

// A reference to a user's type is a user's type.
impl<T: Sealed + ?Sized> Sealed for &T {}
impl<T: Sealed + ?Sized> Sealed for &mut T {}

impl<T> Sealed for Option<T> {}
impl<T> Sealed for Vec<T> {}
impl<T> Sealed for [T] {}
impl<T, const N: usize> Sealed for [T; N] {}
impl Sealed for usize {}
impl Sealed for isize {}

/// For `A B` it writes `impl<A, B> Sealed for (A, B) {}`.
macro_rules! tuples {
    ($([$($of:ident)*])*) => {$(
        impl<$($of),*> Sealed for ($($of,)*) {}
    )*};
}
tuples! { [] [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] [A B C D E F G] [A B C D E F G H] }
