//! Operands of operators: tensors, references to them, and Rust scalars.

use crate::device::{Anywhere, Device, Place, Receives, Source};
use crate::dtype::scalar::{Dimensioned, Kind, ScalarKind};
use crate::dtype::{Dtype, Element, OperandType, ResultOperand, Scalar, ScalarValue};
use crate::error::Result;
use crate::sealed::Sealed;
use crate::shape::Shape;
use crate::storage::View;
use crate::tensor::{Tensor, TensorView, TensorViewMut};

/// The other operand of an operation on a tensor: a tensor, a reference to one, or a Rust scalar.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand: promotion is not defined for it",
    label = "expected a tensor of a computing dtype, a reference to one, or a Rust scalar",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`, or taken over by `Tensor::from_vec(v)`; a number behind a reference is read by `*`",
    note = "an `AnyTensor` becomes typed by `.typed::<E, S, D>()?`, or the other operand an `AnyTensor`: `AnyTensor::from(x)`; of a sparse tensor `.to_dense()` is strided",
    note = "shell dtypes (u16, u32, u64, float8, float4) are cast first, for example `.to::<f32>()`"
)]
pub trait Operand: Sealed {
    /// The dtype in promotion.
    type Elem: Dtype;
    /// Its shape; `()` for scalars.
    type Shape: Shape;
    /// Scalar, zero-dim or dimensioned.
    type Kind: Kind;
    /// Its device, or any device for scalars.
    type Place: Place;
    /// Its elements, or its value.
    #[doc(hidden)]
    fn source(&self) -> OperandSource<'_, Self>;
}

/// An operand's elements, or its value.
#[doc(hidden)]
pub enum OperandSource<'a, R: Operand + ?Sized> {
    View(View<'a, <R::Place as Place>::Buffer, R::Elem>),
    Scalar(ScalarValue),
}

/// An operand that is a tensor or a reference to one, for operations that take no scalars in PyTorch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strided tensor",
    label = "expected a tensor or a reference to one",
    note = "PyTorch takes no scalar here: `Tensor::scalar` makes a tensor of one (bounds are `clamp_min` and `clamp_max`; to scale by a number use `*`)",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`; of a sparse tensor `.to_dense()` is strided"
)]
pub trait TensorOperand: Operand {}

/// The elements of an operand of dtype `E` that has axes, on the device that computes with them.
#[inline]
pub(crate) fn elements_of<E: Dtype, D: Receives<R::Place, Dimensioned>, R: TensorOperand>(
    operand: &R,
) -> Result<View<'_, D::Storage, E>> {
    let OperandSource::View(view) = operand.source() else { unreachable!("a tensor operand has a view") };
    let Source::View(view) = <D as Receives<R::Place, Dimensioned>>::right(view)? else {
        unreachable!("what has axes is not moved")
    };
    Ok(view.known_as())
}

impl<E: Dtype, S: Shape, D: Device> Operand for Tensor<E, S, D> {
    type Elem = E;
    type Shape = S;
    type Kind = S::Kind;
    type Place = D;
    #[inline]
    fn source(&self) -> OperandSource<'_, Self> {
        OperandSource::View(self.elements())
    }
}
impl<E: Dtype, S: Shape, D: Device> Operand for &Tensor<E, S, D> {
    type Elem = E;
    type Shape = S;
    type Kind = S::Kind;
    type Place = D;
    #[inline]
    fn source(&self) -> OperandSource<'_, Self> {
        OperandSource::View(self.elements())
    }
}
/// For a view it writes `impl Operand` and `impl TensorOperand`.
macro_rules! views {
    ($($view:ty),*) => {$(
        impl<E: Dtype, S: Shape, D: Device> Operand for $view {
            type Elem = E;
            type Shape = S;
            type Kind = S::Kind;
            type Place = D;
            #[inline]
            fn source(&self) -> OperandSource<'_, Self> {
                OperandSource::View(self.elements())
            }
        }
        impl<E: Dtype, S: Shape, D: Device> TensorOperand for $view {}
    )*};
}
views!(TensorView<'_, E, S, D>, &TensorView<'_, E, S, D>, TensorViewMut<'_, E, S, D>, &TensorViewMut<'_, E, S, D>);
impl<E: Dtype, S: Shape, D: Device> TensorOperand for Tensor<E, S, D> {}
impl<E: Dtype, S: Shape, D: Device> TensorOperand for &Tensor<E, S, D> {}

impl<E: Element, S: Shape, D: Device> ResultOperand for Tensor<E, S, D> {
    fn operand_type(&self) -> OperandType {
        OperandType::tensor(E::DTYPE, S::RANK)
    }
}
impl<E: Element, S: Shape, D: Device> ResultOperand for &Tensor<E, S, D> {
    fn operand_type(&self) -> OperandType {
        (**self).operand_type()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Operand for T {
    type Elem = T::Counts;
    type Shape = ();
    type Kind = ScalarKind;
    type Place = Anywhere;
    #[inline]
    fn source(&self) -> OperandSource<'_, Self> {
        OperandSource::Scalar(self.value())
    }
}
