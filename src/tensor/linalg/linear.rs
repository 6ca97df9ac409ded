//! `linear_with`: a matrix applied to the last axis, with a bias and an activation.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::UnaryOp;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::Applying;
use crate::shape::{Dim, Dimensional, HasAxis, InFeatures, Shape};
use crate::tensor::{Optional, SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// An operation of one operand whose result on elements of dtype `E` has the same dtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no activation of elements of dtype `{E}`",
    label = "expected an operation of one operand that gives the dtype it takes, as `ops::relu {{}}`",
    note = "most activations take floats: cast first, `.to::<f32>()`"
)]
pub trait Activation<E: Dtype>: UnaryOp<E, Output = E> {}
#[diagnostic::do_not_recommend]
impl<E: Dtype, A: UnaryOp<E, Output = E>> Activation<E> for A {}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `activation(x @ weight.T + bias)`: [`linear`](Self::linear), and a function of its elements while they are in the cache. The
    /// activation is one of the [operations of one operand](crate::ops) that keep the dtype: `relu`, `gelu`, `silu`, `sigmoid`, `tanh` and
    /// so on. The elements are the same as those of the two steps one after the other.
    ///
    /// All have one dtype, which is the result's and which the activation admits; `bool` is refused.
    ///
    /// PyTorch: two functions, as in `torch.nn.functional.relu(torch.nn.functional.linear(x, weight, bias))`.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{ops, tensor};
    /// let (x, weight) = (tensor![[1.0, 2.0]], tensor![[1.0, 1.0], [1.0, -1.0]]);
    /// let y = x.linear_with(&weight, Some(&tensor![0.5, 0.0]), ops::relu {});
    /// assert_eq!(y.to_vec(), [3.5, 0.0]);
    /// ```
    #[fallible]
    pub fn linear_with<N: Dim, K, A: Activation<E>, F: Element, X: Device>(
        &self,
        weight: &Tensor<F, (N, K), X>,
        bias: impl Optional<E, (N,), D>,
        activation: A,
    ) -> Result<Tensor<E, <S as HasAxis<-1>>::Replace<N>, D>>
    where
        E: NumericFor<ops::reduce::linear>,
        S: Dimensional + HasAxis<-1>,
        <S as HasAxis<-1>>::Dim: InFeatures<K>,
        K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::linear>,
    {
        let (weight, bias) = (K::alike(K::here(weight)), bias.given());
        let _ = activation;
        let bias = bias.map(Tensor::erased);
        let result = self.erased().through(&weight.erased(), bias.as_ref(), |x, weight, added| {
            D::matmul_then::<E>(Applying::<A>::new(), x, weight, added)
        })?;
        result.typed("linear")
    }
}
