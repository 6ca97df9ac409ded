//! What becomes of the losses of single elements: their mean, their sum, or they are the result.

use crate::ops::losses::LossReduction;
use crate::shape::Shape;

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
/// The sum of the losses divided by the size of the first axis (`reduction="batchmean"`): what [`Tensor::kl_div`](crate::Tensor::kl_div) is by definition.
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

/// The same of [`Tensor::kl_div`](crate::Tensor::kl_div), which has [`BatchMean`], too.
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
