//! Reductions of lazy expressions; most of their methods are written together with those of tensors.

use super::{Lazy, Node};
use crate::Tensor;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::reduce::LogSumExp;
use crate::ops::{self, Op, reduce::Reducer};
use crate::shape::{Axes, Shape};
use crate::tensor::reduce::reductions::reduce_by;
use castiron_macros::fallible;

impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
    /// Reduces over the axes of `mask` to a tensor of shape `T`.
    pub(in crate::tensor) fn reduce<O: Op, R: Reducer<E>, T: Shape>(
        &self,
        reducer: R,
        mask: u32,
        keeps: bool,
    ) -> Result<Tensor<R::Out, T, D>> {
        let (node, extent) = self.parts.as_ref().map_err(Clone::clone)?;
        let sizes = extent.sizes.as_ref();
        reduce_by::<O, R, E, T, D>(reducer, sizes, mask, keeps, |reducer| {
            #[cfg(feature = "grad")]
            if const { D::RECORDS } {
                return D::reduce(reducer, node.each(sizes)?.0.expand("lazy", sizes)?.view(), mask);
            }
            // SAFETY: the expression was made for these sizes, and the node holds its tensors.
            let run = || unsafe { D::reduce_lazy(reducer, node.expression(sizes)?, sizes, mask) };
            D::fused(E::DTYPE, sizes, None, run)
        })
    }

    /// As [`Tensor::logsumexp`], without a tensor of the elements.
    ///
    /// # Panics
    /// As [`Tensor::logsumexp`], and as [`eval`](Self::eval).
    #[fallible]
    pub fn logsumexp<A: Axes<S>, O: Dtype>(self, axes: A) -> Result<Tensor<O, A::Reduced, D>>
    where
        E: Dtype<Inexact = O>,
    {
        self.reduce::<ops::reduce::logsumexp, _, _>(LogSumExp, A::MASK, A::KEEPS)
    }
}
