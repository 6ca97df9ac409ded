//! Assertions about the types of results, which the compiler alone checks.

use crate::device::Device;
use crate::dtype::Element;
use crate::shape::Shape;
use crate::tensor::{Layout, Tensor, TensorView, TensorViewMut};

/// Asserts the dtype of a tensor when the program is compiled.
///
/// Nothing is computed, and nothing is left of it in the program. An operator takes its operands here as elsewhere: write `&x + &y`.
///
/// ```
/// use castiron::{assert_dtype, tensor};
/// let counts = tensor![1, 2, 3];
/// assert_dtype!(counts, i64);
/// assert_dtype!(&counts / 2, f32);
/// assert_dtype!(counts.gt(1), bool);
/// ```
///
/// ```compile_fail,E0277
/// let halves = castiron::tensor![1, 2, 3] / 2;
/// castiron::assert_dtype!(halves, i64); // the dtype is `f32`, and should be `i64`
/// ```
#[macro_export]
macro_rules! assert_dtype {
    ($tensor:expr, $dtype:ty $(,)?) => {
        let _ = || $crate::__assertions::dtype::<$dtype, _>(&$tensor);
    };
}

/// Asserts the shape of a tensor as its type says it: sizes that the compiler knows, names, and `_`. (See [`assert_dtype!`](crate::assert_dtype).)
///
/// ```
/// use castiron::{assert_shape, axis, dims, shape, Tensor};
/// dims! { Batch }
/// let x: Tensor<f32, shape![Batch, 4]> = Tensor::ones_sized([2, 4]);
/// assert_shape!(x, [Batch, 4]);
/// assert_shape!(x.sum_axis(axis![0]), [4]);
/// assert_shape!(x.sum(), []);
/// assert_shape!(x.t().matmul(&x), shape![4, 4]);
/// ```
///
/// ```compile_fail,E0277
/// let x = castiron::tensor![[1.0, 2.0, 3.0]];
/// castiron::assert_shape!(x.t(), [1, 3]); // the shape is `(D3, D1)`, and should be `(D1, D3)`
/// ```
#[macro_export]
macro_rules! assert_shape {
    ($tensor:expr, [$($dims:tt)*] $(,)?) => {
        let _ = || $crate::__assertions::shape::<$crate::shape![$($dims)*], _>(&$tensor);
    };
    ($tensor:expr, $shape:ty $(,)?) => {
        let _ = || $crate::__assertions::shape::<$shape, _>(&$tensor);
    };
}

/// Asserts the type of an expression, without computing it. (See [`assert_dtype!`](crate::assert_dtype).)
///
/// ```
/// use castiron::{assert_type, shape, tensor, Promoted, Tensor};
/// assert_type!(tensor![1, 2] + 0.5, Tensor<f32, shape![2]>);
/// assert_type!(tensor![1, 2].sum().item(), i64);
/// ```
///
/// ```compile_fail,E0277
/// use castiron::{assert_type, tensor};
/// assert_type!(tensor![1, 2].sum(), i64); // the type is `Tensor<i64, ()>`, and should be `i64`
/// ```
#[macro_export]
macro_rules! assert_type {
    ($value:expr, $type:ty $(,)?) => {
        let _ = || $crate::__assertions::is::<$type, _>(&$value);
    };
}

/// A tensor of any layout, or a view.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no dtype and shape in its type",
    label = "expected a `Tensor`, or a view of one",
    note = "of an `AnyTensor` they are values: `assert_eq!(x.dtype(), DType::F32)`; `assert_type!` asserts any type"
)]
pub trait Typed {
    type Dtype: Element;
    type Shape: Shape;
}
impl<E: Element, S: Shape, D: Device, L: Layout> Typed for Tensor<E, S, D, L> {
    type Dtype = E;
    type Shape = S;
}
impl<E: Element, S: Shape, D: Device> Typed for TensorView<'_, E, S, D> {
    type Dtype = E;
    type Shape = S;
}
impl<E: Element, S: Shape, D: Device> Typed for TensorViewMut<'_, E, S, D> {
    type Dtype = E;
    type Shape = S;
}
impl<T: Typed + ?Sized> Typed for &T {
    type Dtype = T::Dtype;
    type Shape = T::Shape;
}

/// The dtype of a tensor is `E`.
#[diagnostic::on_unimplemented(
    message = "the dtype is `{Self}`, and should be `{Expected}`",
    label = "of dtype `{Self}`"
)]
pub trait IsDtype<Expected: ?Sized> {}
impl<T: ?Sized> IsDtype<T> for T {}

/// The shape of a tensor is `S`.
#[diagnostic::on_unimplemented(
    message = "the shape is `{Self}`, and should be `{Expected}`",
    label = "of shape `{Self}`",
    note = "a number is written by its digits: `D3<D8<D4>>` is 384; `Dyn` is a size known at run time, `_` in `shape!`"
)]
pub trait IsShape<Expected: ?Sized> {}
impl<T: ?Sized> IsShape<T> for T {}

/// The type is `T`.
#[diagnostic::on_unimplemented(
    message = "the type is `{Self}`, and should be `{Expected}`",
    label = "of type `{Self}`"
)]
pub trait IsType<Expected: ?Sized> {}
impl<T: ?Sized> IsType<T> for T {}

pub fn dtype<E, X: Typed<Dtype: IsDtype<E>>>(_: &X) {}

pub fn shape<S, X: Typed<Shape: IsShape<S>>>(_: &X) {}

pub fn is<T, X: IsType<T>>(_: &X) {}
