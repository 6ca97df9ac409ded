//! `linear`: a matrix applied to the last axis, with a bias and an activation.

use crate::composite::linalg::product::Summand;
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::UnaryOp;
use crate::ops::admit::NumericFor;
use crate::ops::arguments::Added;
use crate::ops::kernel::Applying;
use crate::shape::{Dim, Dimensional, HasAxis, InFeatures, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{Optional, SameDevice, SameDtype, Tensor, checked_numel};
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

type Applied<S, N> = <S as HasAxis<-1>>::Replace<N>;
type Operand<'a, E, D> = View<'a, <D as crate::device::Backend>::Storage, E>;

/// The operand as rows for a weight of sizes `(n, k)`: a matrix, or a row-major tensor with its leading axes flattened; the sizes and
/// strides of all rows, and the sizes of the result.
pub(crate) struct InRows<E: Element, S: Shape + HasAxis<-1>, N: Dim, D: Device> {
    x: Tensor<E, S, D>,
    sizes: [usize; 2],
    strides: [usize; 2],
    result: <Applied<S, N> as Shape>::Sizes,
}
impl<E: Element, S: Shape + HasAxis<-1>, N: Dim, D: Device> InRows<E, S, N, D> {
    pub(crate) fn new(x: &Tensor<E, S, D>, [n, rows]: [usize; 2]) -> Result<Self> {
        let sizes = x.shape();
        let Some((&columns, leading)) = sizes.as_ref().split_last() else {
            let reason = "a zero-dim tensor has no last axis".to_owned();
            return Err(Error::InvalidArgument { op: "linear", reason });
        };
        if columns != rows {
            let (lhs, rhs) = (sizes.as_ref().into(), [n, rows][..].into());
            return Err(Error::MatMul { lhs, rhs, columns, rows });
        }
        let mut result = <Applied<S, N> as Shape>::Sizes::copied(sizes.as_ref());
        result.as_mut()[S::RANK - 1] = n;
        checked_numel::<E>("linear", result.as_ref())?;
        let count = leading.iter().product();
        let x = if S::RANK == 2 { x.clone() } else { x.try_contiguous()? };
        let strides = if S::RANK == 2 { [x.stride().as_ref()[0], x.stride().as_ref()[1]] } else { [columns, 1] };
        Ok(InRows { x, sizes: [count, columns], strides, result })
    }

    pub(crate) fn view(&self) -> Operand<'_, E, D> {
        self.x.elements().restrided(&self.sizes, &self.strides)
    }

    pub(crate) fn into_result(self, product: D::Storage) -> Tensor<E, Applied<S, N>, D> {
        Tensor::dense(product, self.result)
    }
}

/// Prepares the operands of `linear` for the device's `multiply`.
fn apply<E: Dtype, S: Shape + HasAxis<-1>, N: Dim, K: Dim, D: Device>(
    x: &Tensor<E, S, D>,
    weight: &Tensor<E, (N, K), D>,
    bias: Option<&Tensor<E, (N,), D>>,
    multiply: impl FnOnce(Operand<'_, E, D>, Operand<'_, E, D>, Option<Added<'_, D::Storage, E>>) -> Result<D::Storage>,
) -> Result<Tensor<E, Applied<S, N>, D>> {
    let [n, columns] = weight.shape();
    let rows = InRows::new(x, [n, columns])?;
    let [across, down] = weight.stride();
    let weight = weight.elements();
    let (weight_sizes, weight_strides) = ([columns, n], [down, across]);
    let weight = weight.restrided(&weight_sizes, &weight_strides);
    let one = E::from_i32(1).to_compute();
    let input = bias.map(Tensor::elements);
    let summand = input.map(|input| Summand { op: "linear", input, beta: one, alpha: one });
    let sizes = [rows.sizes[0], n];
    let strides_of_bias = summand.as_ref().map(|summand| summand.strides(&sizes)).transpose()?;
    let added = summand.as_ref().zip(strides_of_bias.as_ref());
    let added = added.map(|(summand, strides)| summand.expanded(&sizes, strides));
    let product = multiply(rows.view(), weight, added)?;
    Ok(rows.into_result(product))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `x @ weight.T + bias`: a matrix applied to the last axis, `(…, K)` with a weight of `(N, K)` giving `(…, N)`.
    ///
    /// All have one dtype, which is the result's; `bool` is refused.
    ///
    /// PyTorch: `torch.nn.functional.linear`. [`linear_with`](Self::linear_with) computes an activation in the same pass.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let x = Tensor::<f32, shape![8, 5, 2]>::ones();
    /// let y: Tensor<f32, shape![8, 5, 3]> = x.linear(&tensor![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], Some(&tensor![0.5, 0.0, -1.0]));
    /// assert_eq!(y.narrow(castiron::axis![0], 7, 1).flatten().to_vec()[12..], [3.5, 7.0, 10.0]);
    /// ```
    #[doc(alias = "dense")]
    #[doc(alias = "fully_connected")]
    #[fallible]
    pub fn linear<N: Dim, K, F: Element, X: Device>(
        &self,
        weight: &Tensor<F, (N, K), X>,
        bias: impl Optional<E, (N,), D>,
    ) -> Result<Tensor<E, <S as HasAxis<-1>>::Replace<N>, D>>
    where
        E: NumericFor<ops::reduce::linear>,
        S: Dimensional + HasAxis<-1>,
        <S as HasAxis<-1>>::Dim: InFeatures<K>,
        K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::linear>,
    {
        let (weight, bias) = (K::alike(K::here(weight)), bias.given());
        apply(self, weight, bias, |x, weight, added| D::matmul::<E>(x, weight, added))
    }

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
        apply(self, weight, bias, |x, weight, added| D::matmul_then::<E>(Applying::<A>::new(), x, weight, added))
    }
}
