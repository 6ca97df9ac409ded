//! Losses of binary classification: `binary_cross_entropy`, of probabilities and of logits.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element, Tuned};
use crate::error::{Error, Result, invalid};
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::arguments::Sought;
use crate::ops::losses::{
    BinaryCrossEntropy, BinaryCrossEntropyOfLogits, Blend, Losing, LossReduction, NegativeLogit, PositiveLogit, Product,
};
use crate::shape::{Shape, TargetOf, broadcasts_to};
use crate::tensor::{LossWeight, Reduction, SameDevice, Tensor};
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The binary cross entropy of probabilities and targets: `-(target * log(x) + (1 - target) * log(1 - x))`, where logarithms are at
    /// least -100. `weight` multiplies the losses; for a `Tensor` it is `()` for none.
    ///
    /// The target has the shape of the predictions; the weight broadcasts to it. All have one dtype.
    ///
    /// # Errors
    /// If an element is not between 0 and 1 or shapes do not match.
    #[op(nn.functional.binary_cross_entropy(input, target, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    #[any(([self, target], [weight]) = self.with_weights("binary_cross_entropy", target, [weight])?)]
    #[typed(<F: Dtype, T, W: LossWeight<E, S, D>, R: Reduction<S>, X: Device>(&self, target: &Tensor<F, T, X>, weight: W, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::binary_cross_entropy> + SameDtypeFor<F, ops::losses::binary_cross_entropy>,
            T: Shape + TargetOf<S>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![0.5, 0.5]; let y = tensor![1.0, 1.0]; x.binary_cross_entropy(&y, (), Unreduced), x.binary_cross_entropy(&y, None, LossReduction::None), tensor![2.0_f32.ln(), 2.0_f32.ln()])]
    #[example(let x = tensor![0.5, 1.0]; let y = tensor![0.0, 0.0]; let weight = tensor![0.0, 2.0]; x.binary_cross_entropy(&y, &weight, Sum), x.binary_cross_entropy(&y, Some(&weight), LossReduction::Sum), Tensor::scalar(200.0))]
    pub(crate) fn binary_cross_entropy(
        &self,
        target: &Erased<'_, E, D>,
        weight: Option<&Erased<'_, E, D>>,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "binary_cross_entropy";
        if D::has(self.view(), Sought::NoShare)? {
            return invalid(op, "a prediction is not between 0 and 1: of logits take the loss with_logits".to_owned());
        }
        self.weighed::<BinaryCrossEntropy>(op, target, weight, reduction)
    }

    /// The binary cross entropy of logits and targets: [`binary_cross_entropy`](Self::binary_cross_entropy) of the
    /// [`sigmoid`](Self::sigmoid) of `self`, without overflow. `weight` multiplies the losses, `pos_weight` the part of them with targets
    /// of 1; for a `Tensor` each is `()` for none.
    ///
    /// The target has the shape of the predictions; weights broadcast to it. All have one dtype, except that predictions and target of an
    /// `AnyTensor` may differ: the losses have the dtype of the target.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.binary_cross_entropy_with_logits(input, target, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean, pos_weight = None), dtypes = float)]
    #[any(
        if let Some(loss) = self.logits_of_two_dtypes(target, [weight, pos_weight], reduction)? { return Ok(loss); },
        ([self, target], [weight, pos_weight]) = self.with_weights("binary_cross_entropy_with_logits", target, [weight, pos_weight])?
    )]
    #[typed(<F, T, W, P, R, X: Device>(&self, target: &Tensor<F, T, X>, weight: W, positive_weight: P, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::binary_cross_entropy_with_logits>
                + SameDtypeFor<F, ops::losses::binary_cross_entropy_with_logits>,
            F: Dtype,
            T: Shape + TargetOf<S>,
            W: LossWeight<E, S, D>,
            P: LossWeight<E, S, D>,
            R: Reduction<S>,
            T: SameDevice<D, X>;
        pos_weight = positive_weight.given().map(Erased::of).as_ref())]
    #[example(let x = tensor![0.0, 1000.0, -1000.0]; let y = tensor![1.0, 0.0, 0.0]; let twice = tensor![2.0]; x.binary_cross_entropy_with_logits(&y, (), &twice, Unreduced), x.binary_cross_entropy_with_logits(&y, None, LossReduction::None, Some(&twice)), tensor![2.0 * 2.0_f32.ln(), 1000.0, 0.0])]
    pub(crate) fn binary_cross_entropy_with_logits(
        &self,
        target: &Erased<'_, E, D>,
        weight: Option<&Erased<'_, E, D>>,
        reduction: LossReduction,
        pos_weight: Option<&Erased<'_, E, D>>,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (op, none) = ("binary_cross_entropy_with_logits", [0.0; 2]);
        let Some(positive) = self.spread(op, pos_weight)? else {
            return self.weighed::<BinaryCrossEntropyOfLogits>(op, target, weight, reduction);
        };
        let of_yes = self.map2_dense::<E, f64>(op, Losing::<PositiveLogit>::new(none), target)?;
        let of_no = self.map2_dense::<E, f64>(op, Losing::<NegativeLogit>::new(none), target)?;
        let of_yes = of_yes.map2_dense::<E, f64>(op, Losing::<Product>::new(none), &positive)?;
        let losses = of_yes.map2_dense::<f64, f64>(op, Losing::<Blend>::new([1.0; 2]), &of_no)?;
        match self.spread(op, weight)? {
            Some(weight) => losses.dense_losses(op, Losing::<Product>::new(none), &weight, reduction),
            None => losses.reduced(op, reduction),
        }
    }

    /// Losses by a formula, multiplied by a weight; unreduced ones are row-major.
    fn weighed<F: Tuned>(
        &self,
        op: &'static str,
        target: &Erased<'_, E, D>,
        weight: Option<&Erased<'_, E, D>>,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let kernel = Losing::<F>::new([0.0; 2]);
        let Some(weight) = self.spread(op, weight)? else { return self.dense_losses(op, kernel, target, reduction) };
        let losses = self.map2_dense::<E, f64>(op, kernel, target)?;
        losses.dense_losses(op, Losing::<Product>::new([0.0; 2]), &weight, reduction)
    }

    /// A weight that broadcasts to these sizes.
    pub(super) fn spread<'w>(
        &self,
        op: &'static str,
        weight: Option<&'w Erased<'_, E, D>>,
    ) -> Result<Option<Erased<'w, E, D>>> {
        let Some(weight) = weight else { return Ok(None) };
        if !broadcasts_to(weight.sizes(), self.sizes()) {
            return Err(Error::Broadcast { op, lhs: self.sizes().into(), rhs: weight.sizes().into() });
        }
        weight.expand(op, self.sizes()).map(Some)
    }
}
