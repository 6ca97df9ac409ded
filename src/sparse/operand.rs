//! Sparse tensors where operations take strided ones: refused with a sentence of our own. Uses the operand traits.
//!
//! The implementations hold under a condition that never does; without them the compiler could only say that a sparse tensor is
//! no tensor.

use super::SparseCoo;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::shape::Shape;
use crate::tensor::{IsStrided, Operand, OperandSource, Tensor, TensorOperand};

macro_rules! refused {
    ($($sparse:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<E: Dtype, S: Shape, D: Device, const N: usize> Operand for $sparse
        where
            SparseCoo<N>: IsStrided,
        {
            type Elem = E;
            type Shape = S;
            type Kind = S::Kind;
            type Place = D;
            fn source(&self) -> OperandSource<'_, Self> {
                unreachable!("the condition holds for no sparse tensor")
            }
        }
        #[diagnostic::do_not_recommend]
        impl<E: Dtype, S: Shape, D: Device, const N: usize> TensorOperand for $sparse where SparseCoo<N>: IsStrided {}
    )*};
}
refused!(Tensor<E, S, D, SparseCoo<N>>, &Tensor<E, S, D, SparseCoo<N>>);
