//! Losses by margins between classes: `multi_margin_loss`, `multilabel_margin_loss`, `multilabel_soft_margin_loss`.
//!
//! Source: `aten/src/ATen/native/LossMultiMargin.cpp`, `LossMultiLabelMargin.cpp`. The first two are computed on the host.

use super::distances::last_axis;
use super::reduction::{expect_labels, expect_target};
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::choosing::{IndexFor, WideFloatFor};
use crate::ops::losses::{Losing, LossReduction, MultilabelSoftMargin, Product};
use crate::ops::reduce;
use crate::shape::{HasAxis, LabelsOf, ListOrMatrix, Scores, Shape, TargetOf};
use crate::tensor::{LossWeight, PerChannel, Reduction, SameDevice, SameDtype, Tensor};
use castiron_macros::composites;

/// The sizes of scores of `(C)` or `(N, C)` as a matrix; a zero-dim tensor has one class.
fn as_matrix(op: &'static str, sizes: &[usize]) -> Result<[usize; 2]> {
    match *sizes {
        [] => Ok([1, 1]),
        [c] => Ok([1, c]),
        [n, c] => Ok([n, c]),
        _ => invalid(op, format!("scores are a list or a matrix, not of shape {sizes:?}")),
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The multi-class margin loss of class scores and labels: the mean over all other classes of `max(0, margin - x[label] + x[class]) **
    /// p`, where `p` is 1 or 2. `weight` has a factor for each class; for a `Tensor` it is `()` for none. In PyTorch `p` and `margin` are 1
    /// if not given.
    ///
    /// Scores are `(C)` or `(N, C)`; `i64` labels, and the losses, have the shape without the axis of classes. Computed on the host.
    ///
    /// # Errors
    /// If a label is out of range, `p` is neither 1 nor 2 or shapes do not match.
    #[op(nn.functional.multi_margin_loss(input, target, p = 1.0, margin = 1.0, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = "float32 and float64", over = [f32, f64])]
    #[any(([self, target], [weight]) = self.with_indices("multi_margin_loss", target, [weight])?)]
    #[typed(<I, T, W, R, X: Device>(&self, labels: &Tensor<I, T, X>, p: f64, margin: f64, weight: W, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: WideFloatFor<ops::losses::multi_margin_loss>,
            I: Dtype + IndexFor<ops::losses::multi_margin_loss>,
            S: Scores + ListOrMatrix,
            T: Shape + LabelsOf<S>,
            W: PerChannel<E, S::Classes, D>,
            R: Reduction<S::Labels>,
            T: SameDevice<D, X>)]
    #[example(let scores = tensor![[1.0, 3.0, 0.5, 0.0]]; let labels = tensor![0]; scores.multi_margin_loss(&labels, 1.0, 1.0, (), Mean), scores.multi_margin_loss(&labels, 1.0, 1.0, None, LossReduction::Mean), Tensor::scalar((3.0 + 0.5) / 4.0))]
    pub(crate) fn multi_margin_loss(
        &self,
        target: &Erased<'_, i64, D>,
        p: f64,
        margin: f64,
        weight: Option<&Erased<'_, E, D>>,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "multi_margin_loss";
        let [n, c] = as_matrix(op, self.sizes())?;
        // With scores of `(C)` the label may be a list of one.
        let (own, one) =
            (if self.rank() == 0 { &[1][..] } else { self.sizes() }, self.rank() < 2 && target.sizes() == [1]);
        expect_labels(op, own, if one { &[] } else { target.sizes() }, weight.map(Erased::sizes))?;
        if p != 1.0 && p != 2.0 {
            return invalid(op, format!("`p` must be 1 or 2, got {p}"));
        }
        let operands = ((self.view(), target.view()), weight.map(Erased::view));
        let losses = on_host::<D, _, Vec<f64>>(op, operands, |((scores, labels), weight)| {
            let number = |x: E| x.cast::<f64>();
            collected((0..n).map(|row| {
                let own = &scores[row * c..][..c];
                let label = usize::try_from(labels[row]).ok().filter(|&label| label < c);
                let label = label.ok_or(Error::IndexValue { op, index: labels[row], axis: 1, size: c })?;
                let terms = own.iter().enumerate().filter(|&(class, _)| class != label).map(|(_, &score)| {
                    let beyond = (margin - number(own[label]) + number(score)).max(0.0);
                    if p == 1.0 { beyond } else { beyond * beyond }
                });
                let factor = weight.as_ref().map_or(1.0, |weight| number(weight[label]));
                Ok(terms.sum::<f64>() * factor / c as f64)
            }))
        })?;
        Owned::<f64, D>::dense(losses, target.dims()).reduced(op, reduction)
    }

    /// The multi-label margin loss of class scores and lists of labels: the sum over labels and classes that are no labels of `max(0, 1 -
    /// x[label] + x[class])`, divided by the number of classes. A list ends at the first -1.
    ///
    /// Scores and lists of `i64` have one shape, `(C)` or `(N, C)`; the losses lack the axis of classes. Computed on the host.
    ///
    /// # Errors
    /// If a label is out of range or shapes differ.
    #[op(nn.functional.multilabel_margin_loss(input, target, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = "float32 and float64", over = [f32, f64])]
    #[any(([self, target], []) = self.with_indices("multilabel_margin_loss", target, [])?)]
    #[typed(<I, T, R, X: Device>(&self, labels: &Tensor<I, T, X>, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: WideFloatFor<ops::losses::multilabel_margin_loss>,
            I: Dtype + IndexFor<ops::losses::multilabel_margin_loss>,
            T: Shape + TargetOf<S>,
            R: Reduction<<S as HasAxis<-1>>::Removed>,
            T: SameDevice<D, X>)]
    #[example(let scores = tensor![[0.0, 1.0, 3.0]]; let labels = tensor![[2, 1, -1]]; scores.multilabel_margin_loss(&labels, Sum), scores.multilabel_margin_loss(&labels, LossReduction::Sum), Tensor::scalar(0.0))]
    #[example(let scores = tensor![[0.0, 1.0, 3.0]]; let labels = tensor![[1, -1, 0]]; scores.multilabel_margin_loss(&labels, Sum), scores.multilabel_margin_loss(&labels, LossReduction::Sum), Tensor::scalar(1.0))]
    pub(crate) fn multilabel_margin_loss(
        &self,
        target: &Erased<'_, i64, D>,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "multilabel_margin_loss";
        expect_target(op, self.sizes(), target.sizes())?;
        let [n, c] = as_matrix(op, self.sizes())?;
        let losses = on_host::<D, _, Vec<f64>>(op, (self.view(), target.view()), |(scores, labels)| {
            collected((0..n).map(|row| {
                let (own, list) = (&scores[row * c..][..c], &labels[row * c..][..c]);
                let mut is_label = filled(false, c)?;
                let mut count = 0;
                for &label in list.iter().take_while(|&&label| label >= 0) {
                    let out_of_range = Error::IndexValue { op, index: label, axis: 1, size: c };
                    *is_label.get_mut(label as usize).ok_or(out_of_range)? = true;
                    count += 1;
                }
                if let Some(&label) = list.iter().find(|&&label| label < -1) {
                    return Err(Error::IndexValue { op, index: label, axis: 1, size: c });
                }
                let mut loss = 0.0;
                for &label in &list[..count] {
                    let score = own[label as usize].cast::<f64>();
                    let others = own.iter().zip(&is_label).filter(|(_, is_label)| !**is_label);
                    loss += others.map(|(&other, _)| (1.0 - score + other.cast::<f64>()).max(0.0)).sum::<f64>();
                }
                Ok(loss / c as f64)
            }))
        })?;
        Owned::<f64, D>::dense(losses, Dims::known(self.rows())).reduced(op, reduction)
    }

    /// The mean over classes, along the last axis, of the binary cross entropy of logits: `-(target * log(sigmoid(x)) + (1 - target) *
    /// log(sigmoid(-x)))`. `weight` multiplies the losses before; for a `Tensor` it is `()` for none.
    ///
    /// The target has the shape of the predictions; the losses lack the last axis. All have one dtype.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.multilabel_soft_margin_loss(input, target, weight = None, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    #[any(([self, target], [weight]) = self.with_weights("multilabel_soft_margin_loss", target, [weight])?)]
    #[typed(<T, W: LossWeight<E, S, D>, R, F: Element, X: Device>(&self, target: &Tensor<F, T, X>, weight: W, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::multilabel_soft_margin_loss>,
            T: Shape + TargetOf<S>,
            R: Reduction<<S as HasAxis<-1>>::Removed>,
            T: SameDevice<D, X> + SameDtype<E, F, ops::losses::multilabel_soft_margin_loss>)]
    #[example(let x = tensor![[0.0, 0.0]]; let y = tensor![[1.0, 0.0]]; x.multilabel_soft_margin_loss(&y, (), Unreduced), x.multilabel_soft_margin_loss(&y, None, LossReduction::None), tensor![2.0_f32.ln()])]
    pub(crate) fn multilabel_soft_margin_loss(
        &self,
        target: &Erased<'_, E, D>,
        weight: Option<&Erased<'_, E, D>>,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "multilabel_soft_margin_loss";
        let mut losses = self.map2_dense::<E, f64>(op, Losing::<MultilabelSoftMargin>::new([0.0; 2]), target)?;
        if let Some(weight) = self.spread(op, weight)? {
            losses = losses.map2_dense::<E, f64>(op, Losing::<Product>::new([0.0; 2]), &weight)?;
        }
        losses.reduce(reduce::Mean, last_axis(self.sizes()), false)?.reduced(op, reduction)
    }
}
