//! The reduction of losses: their mean, their sum, or none.

use crate::ops::losses::LossReduction;
use crate::sealed::Sealed;
use crate::shape::Shape;

/// The mean of the losses; with weights, their sum divided by that of the weights (`reduction="mean"`).
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
/// The sum of the losses divided by the size of the first axis (`reduction="batchmean"`): the mathematical definition of
/// [`Tensor::kl_div`](crate::Tensor::kl_div).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchMean;

/// The reduction of losses of shape `S`: [`Mean`] and [`Sum`] give a zero-dim tensor, [`Unreduced`] all of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what becomes of the losses",
    label = "expected `Mean`, `Sum` or `Unreduced`, of `castiron::reduction`"
)]
pub trait Reduction<S: Shape>: Sealed + Copy {
    /// The shape of the result.
    type Shape: Shape;
    /// The reduction as a value.
    #[doc(hidden)]
    const KIND: LossReduction;
}
impl Sealed for Mean {}
impl Sealed for Sum {}
impl Sealed for Unreduced {}
impl Sealed for BatchMean {}
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

/// The reduction of [`Tensor::kl_div`](crate::Tensor::kl_div): as [`Reduction`], and [`BatchMean`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what becomes of the divergences",
    label = "expected `BatchMean`, `Mean`, `Sum` or `Unreduced`, of `castiron::reduction`"
)]
pub trait DivergenceReduction<S: Shape>: Sealed + Copy {
    /// The shape of the result.
    type Shape: Shape;
    /// The reduction as a value.
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
