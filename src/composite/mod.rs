//! Operations made of others, one function each over [`Erased`] tensors: what `Tensor` and `AnyTensor` run is written by
//! `castiron_macros::composites` from the function's attributes.

mod erased;

#[cfg(feature = "any")]
pub(crate) use crate::any::IntoAny;
pub(crate) use erased::{Axis, Erased, Owned};

use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Declares the modules, and lists their rows by name; files after a `;` have none.
macro_rules! subjects {
    ($($(#[$attribute:meta])* $subject:ident { $($file:ident),+ $(; $($other:ident),+)? })*) => {
        $($(#[$attribute])* pub(crate) mod $subject {
            $(pub(crate) mod $file;)*
            $($(pub(crate) mod $other;)*)?
            #[cfg(feature = "any")]
            pub(super) const OPERATIONS: &[&[crate::any::NamedOp]] = &[$($file::OPERATIONS),*];
        })*
        /// The rows that are written beside the methods of `AnyTensor`, by subject and file.
        #[cfg(feature = "any")]
        pub(crate) const OPERATIONS: &[&[&[crate::any::NamedOp]]] = &[$($(#[$attribute])* $subject::OPERATIONS),*];
    };
}
subjects! {
    activation { glu }
    linalg { contraction, distance; product, euclidean }
    loss { binary, classes, distances, margins, pairs, ctc; reduction }
    normalization { renorm }
    scan { diff }
    statistics { covariance }
}

/// A result as `Tensor` gives it.
pub(crate) trait IntoTyped<T> {
    fn into_typed(self, op: &'static str) -> Result<T>;
}
impl<E: Element, S: Shape, D: Device> IntoTyped<Tensor<E, S, D>> for Owned<E, D> {
    fn into_typed(self, op: &'static str) -> Result<Tensor<E, S, D>> {
        self.typed(op)
    }
}
impl<A: IntoTyped<T>, B: IntoTyped<U>, T, U> IntoTyped<(T, U)> for (A, B) {
    fn into_typed(self, op: &'static str) -> Result<(T, U)> {
        Ok((self.0.into_typed(op)?, self.1.into_typed(op)?))
    }
}
impl<A: IntoTyped<T>, B: IntoTyped<U>, C: IntoTyped<V>, T, U, V> IntoTyped<(T, U, V)> for (A, B, C) {
    fn into_typed(self, op: &'static str) -> Result<(T, U, V)> {
        Ok((self.0.into_typed(op)?, self.1.into_typed(op)?, self.2.into_typed(op)?))
    }
}
impl<A: IntoTyped<T>, T> IntoTyped<Vec<T>> for Vec<A> {
    fn into_typed(self, op: &'static str) -> Result<Vec<T>> {
        self.into_iter().map(|one| one.into_typed(op)).collect()
    }
}
