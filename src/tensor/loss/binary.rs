//! Losses of yes and no: `binary_cross_entropy`, of probabilities and of logits.
//! Uses `loss::reduction`, `loss::pairs`, `ops::losses`.

use super::pairs::expect_target;
use super::per_channel::{LossWeight, spread};
use super::reduction::{Reduction, of_losses, of_pairs, result};
use crate::device::Device;
use crate::dtype::{Dtype, Element, Tuned};
use crate::error::Result;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::arguments::Sought;
use crate::ops::losses::{
    BinaryCrossEntropy, BinaryCrossEntropyOfLogits, Blend, Losing, LossReduction, NegativeLogit, PositiveLogit, Product,
};
use crate::shape::{Shape, TargetOf};
use crate::storage::View;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// Losses by a formula, which a weight of the same sizes multiplies; those that are the result are row-major.
fn weighed<F: Tuned, E: Dtype, D: Device>(
    [x, y]: [View<'_, D::Storage, E>; 2],
    weight: Option<View<'_, D::Storage, E>>,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let (kernel, to) = (Losing::<F>::new([0.0; 2]), strides::row_major(x.sizes));
    let Some(weight) = weight else { return of_pairs::<_, E, E, E, D>(kernel, x, y, reduction, &to) };
    let losses = D::map2::<E, E, f64>(kernel, x, y, &to)?;
    let losses = View::<_, f64>::new(&losses, 0, x.sizes, &to);
    of_pairs::<_, f64, E, E, D>(Losing::<Product>::new([0.0; 2]), losses, weight, reduction, &to)
}

/// `binary_cross_entropy` of views of the same sizes.
pub(crate) fn of_probabilities<E: Dtype, D: Device>(
    op: &'static str,
    [x, y]: [View<'_, D::Storage, E>; 2],
    weight: Option<View<'_, D::Storage, E>>,
    reduction: LossReduction,
) -> Result<D::Storage> {
    if D::has(x, Sought::NoShare)? {
        return crate::error::invalid(
            op,
            "a prediction is not between 0 and 1: of logits take the loss with_logits".to_owned(),
        );
    }
    weighed::<BinaryCrossEntropy, E, D>([x, y], weight, reduction)
}

/// `binary_cross_entropy_with_logits` of views of the same sizes.
pub(crate) fn of_logits<E: Dtype, D: Device>(
    [x, y]: [View<'_, D::Storage, E>; 2],
    weight: Option<View<'_, D::Storage, E>>,
    positive: Option<View<'_, D::Storage, E>>,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let Some(positive) = positive else {
        return weighed::<BinaryCrossEntropyOfLogits, E, D>([x, y], weight, reduction);
    };
    let (sizes, to, none) = (x.sizes, strides::row_major(x.sizes), [0.0; 2]);
    let of_yes = D::map2::<E, E, f64>(Losing::<PositiveLogit>::new(none), x, y, &to)?;
    let of_no = D::map2::<E, E, f64>(Losing::<NegativeLogit>::new(none), x, y, &to)?;
    let product = Losing::<Product>::new(none);
    let of_yes = D::map2::<f64, E, f64>(product, View::new(&of_yes, 0, sizes, &to), positive, &to)?;
    let (yes, no) = (View::<_, f64>::new(&of_yes, 0, sizes, &to), View::<_, f64>::new(&of_no, 0, sizes, &to));
    let losses = D::map2::<f64, f64, f64>(Losing::<Blend>::new([1.0; 2]), yes, no, &to)?;
    match weight {
        Some(weight) => of_pairs::<_, f64, E, E, D>(product, View::new(&losses, 0, sizes, &to), weight, reduction, &to),
        None => of_losses::<E, D>(losses, sizes, reduction),
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The cross entropy of targets beside probabilities of yes: `-(target * log(x) + (1 - target) * log(1 - x))`, where logarithms
    /// count as -100 at least. `weight` multiplies the losses; it is `()` where there is none.
    ///
    /// The target has the shape of `self`; the weight broadcasts to it. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.binary_cross_entropy`.
    ///
    /// # Panics
    /// If an element is not between 0 and 1, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::{Sum, Unreduced}, tensor};
    /// let (x, y) = (tensor![0.5, 1.0], tensor![1.0, 1.0]);
    /// assert_eq!(x.binary_cross_entropy(&y, (), Unreduced).to_vec(), [0.5_f32.ln().abs(), 0.0]);
    /// assert_eq!(x.binary_cross_entropy(&tensor![0.0, 0.0], &tensor![0.0, 2.0], Sum).item(), 200.0);
    /// ```
    #[fallible]
    pub fn binary_cross_entropy<F: Dtype, T, W: LossWeight<E, S, D>, R: Reduction<S>, X: Device>(
        &self,
        target: &Tensor<F, T, X>,
        weight: W,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::binary_cross_entropy> + SameDtypeFor<F, ops::losses::binary_cross_entropy>,
        T: Shape + TargetOf<S>,
        T: SameDevice<D, X>,
    {
        let target = T::here(target);
        let (_, op, x, y) = (reduction, "binary_cross_entropy", self.elements(), target.elements().known_as());
        expect_target(op, x.sizes, y.sizes)?;
        let steps = spread(op, weight.given(), x.sizes)?;
        let weight = weight.given().map(|weight| weight.restrided(x.sizes, &steps));
        Ok(result(of_probabilities::<E, D>(op, [x, y], weight, R::KIND)?, x.sizes, R::KIND))
    }

    /// The cross entropy of targets beside logits of yes: [`binary_cross_entropy`](Self::binary_cross_entropy) of the
    /// [`sigmoid`](Self::sigmoid) of `self`, without overflow. `weight` multiplies the losses, `positive_weight` that part of them that
    /// comes from targets of 1; both are `()` where there is none.
    ///
    /// The target has the shape of `self`; the weights broadcast to it. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.binary_cross_entropy_with_logits`.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Unreduced, tensor};
    /// let (x, y) = (tensor![0.0, 1000.0, -1000.0], tensor![1.0, 0.0, 0.0]);
    /// let losses = x.binary_cross_entropy_with_logits(&y, (), &tensor![2.0], Unreduced);
    /// assert_eq!(losses.to_vec(), [2.0 * 2.0_f32.ln(), 1000.0, 0.0]);
    /// ```
    #[fallible]
    pub fn binary_cross_entropy_with_logits<F, T, W, P, R, X: Device>(
        &self,
        target: &Tensor<F, T, X>,
        weight: W,
        positive_weight: P,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::binary_cross_entropy_with_logits>
            + SameDtypeFor<F, ops::losses::binary_cross_entropy_with_logits>,
        F: Dtype,
        T: Shape + TargetOf<S>,
        W: LossWeight<E, S, D>,
        P: LossWeight<E, S, D>,
        R: Reduction<S>,
        T: SameDevice<D, X>,
    {
        let target = T::here(target);
        let op = "binary_cross_entropy_with_logits";
        let (_, x, y) = (reduction, self.elements(), target.elements().known_as());
        expect_target(op, x.sizes, y.sizes)?;
        let steps = spread(op, weight.given(), x.sizes)?;
        let weight = weight.given().map(|weight| weight.restrided(x.sizes, &steps));
        let steps_of_positive = spread(op, positive_weight.given(), x.sizes)?;
        let positive = positive_weight.given().map(|weight| weight.restrided(x.sizes, &steps_of_positive));
        Ok(result(of_logits::<E, D>([x, y], weight, positive, R::KIND)?, x.sizes, R::KIND))
    }
}
