//! `bilinear`: a bilinear form of two tensors for each output.

use crate::device::{Backend, Device};
use crate::dtype::{Complex, DType, Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Casting, Combining};
use crate::shape::{Dim, Dimensional, HasAxis, InFeatures, InputBeside, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{Optional, SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::fallible;

const OP: &str = "bilinear";

/// Bilinear forms of rows: `left` is `(…, K)`, `right` `(…, J)`, the weight `(O, K, J)`, the bias `(O)`; row-major `(…, O)`.
pub(crate) fn bilinear<E: Dtype, D: Backend>(
    left: View<'_, D::Storage, E>,
    right: View<'_, D::Storage, E>,
    weight: View<'_, D::Storage, E>,
    bias: Option<View<'_, D::Storage, E>>,
) -> Result<D::Storage> {
    // 16-bit floats compute in `f32`, so that the two products are rounded once.
    if const { matches!(E::DTYPE, DType::F16 | DType::BF16) } {
        computed_in::<E, f32, D>(left, right, weight, bias)
    } else if const { matches!(E::DTYPE, DType::C32) } {
        computed_in::<E, Complex<f32>, D>(left, right, weight, bias)
    } else {
        computed_in::<E, E, D>(left, right, weight, bias)
    }
}

fn computed_in<E: Dtype, W: Dtype, D: Backend>(
    left: View<'_, D::Storage, E>,
    right: View<'_, D::Storage, E>,
    weight: View<'_, D::Storage, E>,
    bias: Option<View<'_, D::Storage, E>>,
) -> Result<D::Storage> {
    let (&[outputs, k, j], Some((&columns, leading)), Some((&others, rows))) =
        (weight.sizes, left.sizes.split_last(), right.sizes.split_last())
    else {
        return invalid(OP, "two tensors of rows and a weight with three axes are wanted".to_owned());
    };
    if leading != rows || columns != k || others != j {
        let reason = format!("the shapes {:?}, {:?} and {:?} do not match", left.sizes, right.sizes, weight.sizes);
        return invalid(OP, reason);
    }
    if let Some(bias) = bias
        && *bias.sizes != [outputs]
    {
        return Err(Error::Shape { op: OP, expected: format!("[{outputs}]"), found: bias.sizes.into() });
    }
    let sizes = [leading, &[outputs]].concat();
    let (count, numel) = (leading.iter().product::<usize>(), checked_numel::<W>(OP, &sizes)?);
    checked_numel::<W>(OP, &[count, outputs, j])?;
    let wide = |x: View<'_, D::Storage, E>| D::map1::<E, W>(Casting, x, &strides::row_major(x.sizes));
    // (O, K, J) as K rows of O * J columns.
    let (turned, steps) = ([k, outputs, j], [weight.strides[1], weight.strides[0], weight.strides[2]]);
    let (left, right, weight) = (wide(left)?, wide(right)?, wide(weight.restrided(&turned, &steps))?);
    let (left_sizes, weight_sizes) = ([count, k], [k, outputs * j]);
    let forms = D::matmul::<W>(
        View::new(&left, 0, &left_sizes, &[k, 1]),
        View::new(&weight, 0, &weight_sizes, &[outputs * j, 1]),
        None,
    )?;
    let (forms_sizes, right_sizes) = ([count, outputs, j], [count, j, 1]);
    let result = D::matmul::<W>(
        View::new(&forms, 0, &forms_sizes, &[outputs * j, j, 1]),
        View::new(&right, 0, &right_sizes, &[j, 1, 1]),
        None,
    )?;
    let flat = [numel];
    let result = D::map1::<W, E>(Casting, View::new(&result, 0, &flat, &[1]), &[1])?;
    let Some(bias) = bias else { return Ok(result) };
    let (sizes, row) = ([count, outputs], [0, bias.strides[0]]);
    let bias = bias.restrided(&sizes, &row);
    D::map2::<E, E, E>(
        Combining::<ops::add, E>::new(),
        View::new(&result, 0, &sizes, &[outputs, 1]),
        bias,
        &[outputs, 1],
    )
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `self @ weight[o] @ other` along the last axes for each output `o`, plus a bias: `(…, K)` and `(…, J)` with a weight of `(O, K, J)`
    /// give `(…, O)`.
    ///
    /// All have one dtype, which is the result's; `bool` is refused.
    ///
    /// PyTorch: `torch.nn.functional.bilinear`.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let (x, y) = (tensor![[1.0, 2.0]], tensor![[3.0, 4.0, 5.0]]);
    /// let weight = tensor![[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]];
    /// let z: Tensor<f32, shape![1, 1]> = x.bilinear(&y, &weight, Some(&tensor![0.5]));
    /// assert_eq!(z.to_vec(), [21.5]);
    /// ```
    #[fallible]
    #[allow(clippy::type_complexity)]
    pub fn bilinear<O: Dim, K, J: Dim, R, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        other: &Tensor<G, R, Y>,
        weight: &Tensor<F, (O, K, J), X>,
        bias: impl Optional<E, (O,), D>,
    ) -> Result<Tensor<E, <S as HasAxis<-1>>::Replace<O>, D>>
    where
        E: NumericFor<ops::losses::bilinear>,
        S: Dimensional + HasAxis<-1>,
        R: Shape + InputBeside<S>,
        <S as HasAxis<-1>>::Dim: InFeatures<K>,
        <R as HasAxis<-1>>::Dim: InFeatures<J>,
        K: Dim + SameDevice<D, X> + SameDtype<E, F, ops::losses::bilinear>,
        R: SameDevice<D, Y> + SameDtype<E, G, ops::losses::bilinear>,
    {
        let (other, weight) = (R::alike(R::here(other)), K::alike(K::here(weight)));
        let bias = bias.given().map(|bias| bias.elements());
        let storage = bilinear::<E, D>(self.elements(), other.elements(), weight.elements(), bias)?;
        let mut sizes = <<S as HasAxis<-1>>::Replace<O> as Shape>::Sizes::copied(self.shape().as_ref());
        if let Some(last) = sizes.as_mut().last_mut() {
            *last = weight.shape()[0];
        }
        Ok(Tensor::dense(storage, sizes))
    }
}
