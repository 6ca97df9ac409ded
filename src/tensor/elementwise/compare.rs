//! Comparison of whole tensors by `==`, on the host; elementwise comparison is `eq`, `lt` and so on.

use crate::device::Device;
use crate::dtype::Element;
use crate::shape::{ConvertTo, Never, Shape};
use crate::tensor::base::layout::Layout;
use crate::tensor::{Tensor, TensorView, TensorViewMut};

/// The type that implements [`EqualTo`].
///
/// It is not an operand type, since for a condition on the left operand itself rustc only reports that it "can't compare".
#[doc(hidden)]
#[derive(Debug)]
pub enum Whole {}

/// `Left == Right`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`==` is not defined for `{Left}` and `{Right}`",
    label = "`==` compares two host tensors of one dtype as wholes, and gives one `bool`",
    note = "of two `AnyTensor`s `before.equal(&after)?` is one `bool`, and `before.eq(&after)?` says it of each element",
    note = "element by element: `x.eq(y)` is a tensor of `bool`, beside numbers and other dtypes, too",
    note = "tensors of other devices are copied to the host first: `x.to_device::<Cpu>()`; of sparse tensors `x.to_dense()` is strided"
)]
pub trait EqualTo<Left: ?Sized, Right: ?Sized> {
    fn equal(left: &Left, right: &Right) -> bool;
}

/// `Left < Right`: not implemented; the message says what to write instead.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`<`, `<=`, `>` and `>=` are not defined for tensors",
    label = "tensors are compared element by element, by `lt`, `le`, `gt` and `ge`",
    note = "`x > y` is written `x.gt(y)`: a tensor of `bool`; `x.gt(y).all().item()` is one `bool`"
)]
pub trait OrderedWith<Left: ?Sized, Right: ?Sized>: EqualTo<Left, Right> {}

#[diagnostic::do_not_recommend]
impl<E: Element, S: Shape + ConvertTo<T>, T: Shape> EqualTo<Tensor<E, S>, Tensor<E, T>> for Whole {
    fn equal(left: &Tensor<E, S>, right: &Tensor<E, T>) -> bool {
        if left.shape().as_ref() != right.shape().as_ref() {
            return false;
        }
        match (left.as_slice(), right.as_slice()) {
            (Some(left), Some(right)) => left == right,
            _ => left.iter().zip(right.iter()).all(|(a, b)| a == b),
        }
    }
}

// Two further candidates, so that rustc finds the operator before it knows the right operand, and then reports which condition is not met.
#[diagnostic::do_not_recommend]
impl<Left: ?Sized> EqualTo<Left, Never> for Whole {
    fn equal(_: &Left, _: &Never) -> bool {
        false
    }
}
#[diagnostic::do_not_recommend]
impl<Left: ?Sized> EqualTo<Left, [Never; 0]> for Whole {
    fn equal(_: &Left, _: &[Never; 0]) -> bool {
        false
    }
}
#[diagnostic::do_not_recommend]
impl<Left: ?Sized> OrderedWith<Left, Never> for Whole {}
#[diagnostic::do_not_recommend]
impl<Left: ?Sized> OrderedWith<Left, [Never; 0]> for Whole {}

/// For `TensorView == Tensor` it writes the comparison of a tensor with a view.
macro_rules! views {
    ($($left:ty = $right:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<E: Element, S: Shape + ConvertTo<T>, T: Shape> EqualTo<$left, $right> for Whole {
            fn equal(left: &$left, right: &$right) -> bool {
                let (a, b): (&Tensor<E, S>, &Tensor<E, T>) = (left, right);
                Whole::equal(a, b)
            }
        }
    )*};
}
views! {
    TensorView<'_, E, S> = Tensor<E, T>;
    TensorView<'_, E, S> = TensorView<'_, E, T>;
    TensorView<'_, E, S> = TensorViewMut<'_, E, T>;
    Tensor<E, S> = TensorView<'_, E, T>;
    TensorViewMut<'_, E, S> = Tensor<E, T>;
    TensorViewMut<'_, E, S> = TensorView<'_, E, T>;
    TensorViewMut<'_, E, S> = TensorViewMut<'_, E, T>;
    Tensor<E, S> = TensorViewMut<'_, E, T>;
}

macro_rules! comparisons {
    ($($(#[$attr:meta])* $left:ty = [$($generics:tt)*];)*) => {$(
        $(#[$attr])*
        impl<$($generics)* R> PartialEq<R> for $left
        where
            Whole: EqualTo<$left, R>,
        {
            /// Whether shape and all elements are equal (`torch.equal`); NaN is not equal to itself.
            ///
            /// ```
            /// use castiron::tensor;
            /// assert!(tensor![1, 2] == tensor![1, 2]);
            /// assert!(tensor![f32::NAN] != tensor![f32::NAN]);
            /// ```
            fn eq(&self, other: &R) -> bool {
                Whole::equal(self, other)
            }
        }

        /// Exists so that the compiler says what to write instead of `x < y`.
        $(#[$attr])*
        #[doc(hidden)]
        impl<$($generics)* R> PartialOrd<R> for $left
        where
            Whole: OrderedWith<$left, R>,
        {
            fn partial_cmp(&self, _: &R) -> Option<core::cmp::Ordering> {
                None
            }
        }
    )*};
}
comparisons! {
    Tensor<E, S, D, L> = [E: Element, S: Shape, D: Device, L: Layout,];
    TensorView<'a, E, S, D> = ['a, E: Element, S: Shape, D: Device,];
    TensorViewMut<'a, E, S, D> = ['a, E: Element, S: Shape, D: Device,];
    #[cfg(feature = "any")]
    crate::AnyTensor = [];
}
