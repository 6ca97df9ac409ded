//! What becomes of the losses of single elements: their mean, their sum, or they are the result. Uses `device`; used by losses.

use crate::device::Device;
use crate::dtype::{Castable, DType, Element};
use crate::error::Result;
use crate::layout::strides;
use crate::ops;
use crate::ops::kernel::{Casting, CombiningScalar};
use crate::ops::losses::LossReduction;
use crate::ops::reduce;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::Tensor;

/// The mean of the losses; where they are weighed, their sum divided by that of the weights (`reduction="mean"`).
///
/// ```
/// use castiron::{reduction::Mean, tensor};
/// assert_eq!(tensor![1.0, 3.0].mse_loss(&tensor![0.0, 0.0], Mean).item(), 5.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mean;
/// The sum of the losses (`reduction="sum"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;
/// The losses themselves (`reduction="none"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreduced;
/// The sum of the losses divided by the size of the first axis (`reduction="batchmean"`): what [`Tensor::kl_div`] is by definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchMean;

/// What becomes of losses of shape `S`: [`Mean`] and [`Sum`] give a zero-dim tensor, [`Unreduced`] all of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what becomes of the losses",
    label = "expected `Mean`, `Sum` or `Unreduced`, of `castiron::reduction`"
)]
pub trait Reduction<S: Shape>: Copy {
    /// The shape of the result.
    type Shape: Shape;
    /// The same as a value.
    #[doc(hidden)]
    const KIND: LossReduction;
}
impl<S: Shape> Reduction<S> for Mean {
    type Shape = ();
    const KIND: LossReduction = LossReduction::Mean;
}
impl<S: Shape> Reduction<S> for Sum {
    type Shape = ();
    const KIND: LossReduction = LossReduction::Sum;
}
impl<S: Shape> Reduction<S> for Unreduced {
    type Shape = S;
    const KIND: LossReduction = LossReduction::None;
}

/// The same of [`Tensor::kl_div`], which has [`BatchMean`], too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what becomes of the divergences",
    label = "expected `BatchMean`, `Mean`, `Sum` or `Unreduced`, of `castiron::reduction`"
)]
pub trait DivergenceReduction<S: Shape>: Copy {
    /// The shape of the result.
    type Shape: Shape;
    /// The same as a value.
    #[doc(hidden)]
    const KIND: LossReduction;
}
macro_rules! of_divergences {
    ($($how:ident)*) => {$(
        impl<S: Shape> DivergenceReduction<S> for $how {
            type Shape = <$how as Reduction<S>>::Shape;
            const KIND: LossReduction = <$how as Reduction<S>>::KIND;
        }
    )*};
}
of_divergences!(Mean Sum Unreduced);
impl<S: Shape> DivergenceReduction<S> for BatchMean {
    type Shape = ();
    const KIND: LossReduction = LossReduction::BatchMean;
}

/// A number under the dtype of the losses.
pub(crate) fn narrowed<E: Castable, D: Device>(total: D::Storage) -> Result<D::Storage> {
    if E::DTYPE == DType::F64 {
        return Ok(total);
    }
    D::map1::<f64, E>(Casting, View::new(&total, 0, &[], &[]), &[])
}

/// Losses of single elements, computed in `f64` from row-major storage, under their dtype.
pub(crate) fn narrowed_all<E: Castable, D: Device>(losses: D::Storage, sizes: &[usize]) -> Result<D::Storage> {
    if E::DTYPE == DType::F64 {
        return Ok(losses);
    }
    let strides = strides::row_major(sizes);
    D::map1::<f64, E>(Casting, View::new(&losses, 0, sizes, &strides), &strides)
}

/// A number divided by another.
pub(crate) fn divided<D: Device>(total: D::Storage, count: usize) -> Result<D::Storage> {
    D::map1::<f64, f64>(CombiningScalar::<ops::div, f64>(count as f64), View::new(&total, 0, &[], &[]), &[])
}

/// What becomes of row-major losses in `f64`.
pub(crate) fn of_losses<E: Castable, D: Device>(
    losses: D::Storage,
    sizes: &[usize],
    reduction: LossReduction,
) -> Result<D::Storage> {
    let strides = strides::row_major(sizes);
    let view = View::<_, f64>::new(&losses, 0, sizes, &strides);
    match reduction {
        LossReduction::None => narrowed_all::<E, D>(losses, sizes),
        LossReduction::Sum => narrowed::<E, D>(D::reduce(reduce::Sum, view, u32::MAX)?),
        LossReduction::Mean => narrowed::<E, D>(D::reduce(reduce::Mean, view, u32::MAX)?),
        LossReduction::BatchMean => {
            let total = D::reduce(reduce::Sum, view, u32::MAX)?;
            narrowed::<E, D>(divided::<D>(total, sizes.first().copied().unwrap_or(1))?)
        }
    }
}

/// A result in row-major storage: all losses, which have these sizes, or one number.
pub(crate) fn result<E: Element, T: Shape, D: Device>(
    storage: D::Storage,
    sizes: &[usize],
    reduction: LossReduction,
) -> Tensor<E, T, D> {
    let sizes = if reduction == LossReduction::None { sizes } else { &[] };
    Tensor::dense(storage, T::Sizes::copied(sizes))
}
