//! `lerp`: linear interpolation.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element, Scalar};
use crate::error::{Error, Result};
use crate::ops::admit::{InexactFor, SameDtypeFor};
use crate::ops::kernel::{Copying, Map2};
use crate::ops::pointwise::{Lerping, LerpingBy};
use crate::ops::{Op as _, pointwise};
use crate::shape::{Broadcast, Shape, WrittenTo};
use crate::storage::View;
use crate::tensor::Tensor;
use crate::tensor::base::operand::{Operand, TensorOperand};
use crate::tensor::elementwise::apply::{broadcast, broadcast_all, map2, map3};
use crate::tensor::elementwise::where_clamp::{Choice, choice};
use crate::tensor::index::gather::elements;
use castiron_macros::fallible;

/// The weight of `lerp`: a scalar, or a tensor of the same dtype.
#[diagnostic::on_unimplemented(
    message = "`lerp` of `{E}` takes a weight that is a scalar or a tensor of `{E}`, got `{Self}`",
    label = "not a weight for these elements",
    note = "there is no promotion here; cast the weight, for example `.to::<{E}>()`"
)]
pub trait WeightOf<E>: Operand {}
impl<T: Scalar, E> WeightOf<E> for T {}
impl<E: Dtype, S: Shape, D: Device> WeightOf<E> for Tensor<E, S, D> {}
impl<E: Dtype, S: Shape, D: Device> WeightOf<E> for &Tensor<E, S, D> {}

/// The shape of `x.lerp(end, weight)`.
pub(crate) type Blended<S, R, W> =
    <<S as Broadcast<<R as Operand>::Shape>>::Output as Broadcast<<W as Operand>::Shape>>::Output;

/// `kernel(a, b)` of two tensors of one dtype.
pub(crate) fn pair<E: Dtype, O: Element, T: Shape, D: Device>(
    op: &'static str,
    kernel: impl Map2<E, E, O>,
    a: View<'_, D::Storage, E>,
    b: View<'_, D::Storage, E>,
) -> Result<Tensor<O, T, D>> {
    let sizes = broadcast::<T, O>(op, a.sizes, b.sizes)?;
    map2::<_, _, T, D, _>(kernel, a, b, sizes, [E::DTYPE; 2])
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Linear interpolation between `self` and `end`: `self + weight * (end - self)`, exact at either end.
    ///
    /// Shape: all three broadcast. Dtypes: floats and complex numbers, the same for both tensors and for a weight that is a tensor.
    ///
    /// PyTorch: `torch.lerp`.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (start, end) = (tensor![0.0, 10.0], tensor![4.0, 20.0]);
    /// assert_eq!(start.lerp(&end, 0.25).to_vec(), [1.0, 12.5]);
    /// assert_eq!(start.lerp(&end, tensor![1.0, 0.5]).to_vec(), [4.0, 15.0]);
    /// ```
    #[fallible]
    pub fn lerp<R: TensorOperand, W: WeightOf<E>>(&self, end: R, weight: W) -> Result<Tensor<E, Blended<S, R, W>, D>>
    where
        E: InexactFor<pointwise::lerp> + SameDtypeFor<R::Elem, pointwise::lerp>,
        S: Broadcast<R::Shape>,
        <S as Broadcast<R::Shape>>::Output: Broadcast<W::Shape>,
        D: Receives<R::Place, Dimensioned> + Receives<W::Place, W::Kind>,
    {
        let (start, end) = (self.elements(), elements::<R, D>(&end)?.known_as());
        match choice::<W, E::Compute, D>("lerp", &weight)? {
            Choice::Value(weight) => pair(pointwise::lerp::NAME, LerpingBy(weight), start, end),
            Choice::Elements(weight) => {
                let weight = weight.known_as();
                let sizes = broadcast_all::<Blended<S, R, W>, E>("lerp", &[start.sizes, end.sizes, weight.sizes])?;
                map3::<_, _, _, _, D, _>(Lerping, start, end, weight, sizes, [E::DTYPE; 3])
            }
        }
    }

    /// [`lerp`](Self::lerp) in place: the others are broadcast to `self`.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn lerp_<R: TensorOperand, W: WeightOf<E>>(&mut self, end: R, weight: W) -> Result<&mut Self>
    where
        E: InexactFor<pointwise::lerp> + SameDtypeFor<R::Elem, pointwise::lerp>,
        S: Broadcast<R::Shape>,
        <S as Broadcast<R::Shape>>::Output: Broadcast<W::Shape>,
        Blended<S, R, W>: WrittenTo<S>,
        D: Receives<R::Place, Dimensioned> + Receives<W::Place, W::Kind>,
    {
        let result = self.try_lerp(end, weight)?;
        if result.shape().as_ref() != self.shape().as_ref() {
            let (result, output) = (result.shape().as_ref().into(), self.shape().as_ref().into());
            return Err(Error::Output { op: "lerp_", result, output });
        }
        D::map1_into::<E, E>(Copying, result.elements(), self.elements_mut()?)?;
        Ok(self)
    }
}
