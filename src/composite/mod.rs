//! Operations composed of others, one function each over [`Erased`] tensors: the methods of `Tensor` and `AnyTensor` are written by
//! `castiron_macros::composites` from the function's attributes.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub(crate) mod activation;
#[cfg(feature = "grad")]
mod algebra;
#[cfg(feature = "linalg")]
pub(crate) mod decompose;
pub(crate) mod elementwise;
mod erased;
#[cfg(feature = "fft")]
pub(crate) mod fourier;
pub(crate) mod index;
pub(crate) mod join;
pub(crate) mod linalg;
pub(crate) mod loss;
pub(crate) mod nn;
pub(crate) mod normalization;
pub(crate) mod primitive;
pub(crate) mod rearrange;
pub(crate) mod reducers;
pub(crate) mod scan;
pub(crate) mod sort;
pub(crate) mod statistics;

#[cfg(feature = "any")]
pub(crate) use crate::any::IntoAny;
pub(crate) use erased::{Axis, Erased, Owned};
#[cfg(feature = "grad")]
pub(crate) use erased::{expect_within, left_over};

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, collected};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// The rows of the folders, which `castiron_macros::composites` writes.
#[cfg(feature = "any")]
pub(crate) const ROWS: &[crate::rows::Folder] = &[
    activation::ROWS,
    #[cfg(feature = "linalg")]
    decompose::ROWS,
    elementwise::ROWS,
    #[cfg(feature = "fft")]
    fourier::ROWS,
    index::ROWS,
    linalg::ROWS,
    loss::ROWS,
    nn::ROWS,
    normalization::ROWS,
    rearrange::ROWS,
    scan::ROWS,
    sort::ROWS,
    statistics::ROWS,
];

/// Converts a result to a `Tensor`.
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
        collected(self.into_iter().map(|one| one.into_typed(op)))
    }
}
