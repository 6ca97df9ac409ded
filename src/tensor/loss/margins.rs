//! Losses by margins between classes: `multi_margin_loss`, `multilabel_margin_loss`, `multilabel_soft_margin_loss`.
//!
//! Source: `aten/src/ATen/native/LossMultiMargin.cpp`, `LossMultiLabelMargin.cpp`. The first two are computed on the host.
//! Uses `loss::reduction`, `loss::classes`, `ops::losses`; used by `any`.

use super::classes::expect_labels;
use super::pairs::expect_target;
use super::per_channel::{LossWeight, PerChannel, spread};
use super::reduction::{Reduction, of_losses, result};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, collected, filled};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::choosing::{IndexFor, WideFloatFor};
use crate::ops::losses::{Losing, LossReduction, MultilabelSoftMargin, Product};
use crate::ops::reduce;
use crate::shape::{HasAxis, LabelsOf, ListOrMatrix, Scores, Shape, TargetOf};
use crate::storage::View;
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// `multi_margin_loss` of scores of `(N, C)` beside `N` labels.
pub(crate) fn multi_margin<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    labels: View<'_, D::Storage, i64>,
    weight: Option<View<'_, D::Storage, E>>,
    [p, margin]: [f64; 2],
    reduction: LossReduction,
) -> Result<D::Storage> {
    if p != 1.0 && p != 2.0 {
        return crate::error::invalid(op, format!("`p` must be 1 or 2, got {p}"));
    }
    let [n, c] = [x.sizes[0], x.sizes[1]];
    let losses = D::build::<f64>(Some(x.buffer), || {
        let (scores, labels) = (D::download(x)?, D::download(labels)?);
        let weight = weight.map(D::download).transpose()?;
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
    of_losses::<E, D>(losses, &[n], reduction)
}

/// `multilabel_margin_loss` of scores of `(N, C)` beside lists of labels that end with -1.
pub(crate) fn multilabel_margin<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    labels: View<'_, D::Storage, i64>,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let [n, c] = [x.sizes[0], x.sizes[1]];
    let losses = D::build::<f64>(Some(x.buffer), || {
        let (scores, labels) = (D::download(x)?, D::download(labels)?);
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
    of_losses::<E, D>(losses, &[n], reduction)
}

/// `multilabel_soft_margin_loss` of views of the same sizes, the classes along the last axis.
pub(crate) fn multilabel_soft_margin<E: Dtype, D: Device>(
    [x, y]: [View<'_, D::Storage, E>; 2],
    weight: Option<View<'_, D::Storage, E>>,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let to = strides::row_major(x.sizes);
    let (kept, last) = x.sizes.split_last().map_or((x.sizes, 0), |(_, kept)| (kept, 1_u32 << kept.len()));
    let kernel = Losing::<MultilabelSoftMargin>::new([0.0; 2]);
    let mut losses = D::map2::<E, E, f64>(kernel, x, y, &to)?;
    if let Some(weight) = weight {
        let own = View::<_, f64>::new(&losses, 0, x.sizes, &to);
        losses = D::map2::<f64, E, f64>(Losing::<Product>::new([0.0; 2]), own, weight, &to)?;
    }
    let means = D::reduce(reduce::Mean, View::<_, f64>::new(&losses, 0, x.sizes, &to), last)?;
    of_losses::<E, D>(means, kept, reduction)
}

/// Scores of `(C)` or `(N, C)` as a matrix.
pub(crate) fn as_matrix(op: &'static str, sizes: &[usize], strides: &[usize]) -> Result<[[usize; 2]; 2]> {
    match (sizes, strides) {
        ([], _) => Ok([[1; 2]; 2]),
        (&[c], &[step]) => Ok([[1, c], [c * step, step]]),
        (&[n, c], &[down, across]) => Ok([[n, c], [down, across]]),
        _ => crate::error::invalid(op, format!("scores are a list or a matrix, not of shape {sizes:?}")),
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The loss of labels beside scores of classes: over all other classes the mean of how far each comes within `margin` of the score
    /// of the label, to the power of `p`, which is 1 or 2. `weight` has a factor for each class, or is `()`.
    ///
    /// Scores are `(C)` or `(N, C)`; labels, and the losses, have the shape without the axis of classes. Dtypes: `f32` and `f64`, `i64`
    /// labels. Computed on the host.
    ///
    /// PyTorch: `torch.nn.functional.multi_margin_loss`, where `p` and `margin` are 1 if not given.
    ///
    /// # Panics
    /// If a label is out of range, `p` is neither 1 nor 2, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Mean, tensor};
    /// let scores = tensor![[1.0, 3.0, 0.5, 0.0]];
    /// assert_eq!(scores.multi_margin_loss(&tensor![0], 1.0, 1.0, (), Mean).item(), (3.0 + 0.5) / 4.0);
    /// ```
    #[fallible]
    pub fn multi_margin_loss<I, T, W, R, X: Device>(
        &self,
        labels: &Tensor<I, T, X>,
        p: f64,
        margin: f64,
        weight: W,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: WideFloatFor<ops::losses::multi_margin_loss>,
        I: Dtype + IndexFor<ops::losses::multi_margin_loss>,
        S: Scores + ListOrMatrix,
        T: Shape + LabelsOf<S>,
        W: PerChannel<E, S::Classes, D>,
        R: Reduction<S::Labels>,
        T: SameDevice<D, X>,
    {
        let labels = T::here(labels);
        let (_, op, x) = (reduction, "multi_margin_loss", self.elements());
        let labels = labels.elements().known_as::<i64>();
        expect_labels(op, x.sizes, labels.sizes, weight.given().map(|weight| weight.sizes))?;
        let [sizes, strides] = as_matrix(op, x.sizes, x.strides)?;
        let (count, step) = (sizes[..1].to_owned(), [labels.strides.first().copied().unwrap_or(1)]);
        let (x, list) = (x.restrided(&sizes, &strides), labels.restrided(&count, &step));
        let storage = multi_margin::<E, D>(op, x, list, weight.given(), [p, margin], R::KIND)?;
        Ok(result(storage, labels.sizes, R::KIND))
    }

    /// The loss of lists of labels beside scores of classes: over every label and every class that is none, how far the class comes
    /// within 1 of the score of the label, divided by the number of classes. A list ends where -1 stands.
    ///
    /// Scores and lists have one shape, `(C)` or `(N, C)`; the losses lack the axis of classes. Dtypes: `f32` and `f64`, `i64` labels.
    /// Computed on the host.
    ///
    /// PyTorch: `torch.nn.functional.multilabel_margin_loss`.
    ///
    /// # Panics
    /// If a label is out of range, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Sum, tensor};
    /// let scores = tensor![[0.0, 1.0, 3.0]];
    /// assert_eq!(scores.multilabel_margin_loss(&tensor![[2, 1, -1]], Sum).item(), 0.0);
    /// assert_eq!(scores.multilabel_margin_loss(&tensor![[1, -1, 0]], Sum).item(), 1.0);
    /// ```
    #[fallible]
    pub fn multilabel_margin_loss<I, T, R, X: Device>(
        &self,
        labels: &Tensor<I, T, X>,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: WideFloatFor<ops::losses::multilabel_margin_loss>,
        I: Dtype + IndexFor<ops::losses::multilabel_margin_loss>,
        T: Shape + TargetOf<S>,
        R: Reduction<<S as HasAxis<-1>>::Removed>,
        T: SameDevice<D, X>,
    {
        let labels = T::here(labels);
        let (_, op, x) = (reduction, "multilabel_margin_loss", self.elements());
        let labels = labels.elements().known_as::<i64>();
        expect_target(op, x.sizes, labels.sizes)?;
        let ([sizes, strides], [_, steps]) =
            (as_matrix(op, x.sizes, x.strides)?, as_matrix(op, labels.sizes, labels.strides)?);
        let both = (x.restrided(&sizes, &strides), labels.restrided(&sizes, &steps));
        let storage = multilabel_margin::<E, D>(op, both.0, both.1, R::KIND)?;
        Ok(result(storage, &x.sizes[..x.sizes.len().saturating_sub(1)], R::KIND))
    }

    /// The mean over classes, along the last axis, of the losses of yes and no:
    /// `-(target * log(sigmoid(x)) + (1 - target) * log(sigmoid(-x)))`. `weight` multiplies the losses before; it is `()` where there is
    /// none.
    ///
    /// The target has the shape of `self`; the losses lack the last axis. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.multilabel_soft_margin_loss`.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Unreduced, tensor};
    /// let (x, y) = (tensor![[0.0, 0.0]], tensor![[1.0, 0.0]]);
    /// assert_eq!(x.multilabel_soft_margin_loss(&y, (), Unreduced).to_vec(), [2.0_f32.ln()]);
    /// ```
    #[fallible]
    pub fn multilabel_soft_margin_loss<T, W: LossWeight<E, S, D>, R, F: Element, X: Device>(
        &self,
        target: &Tensor<F, T, X>,
        weight: W,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::multilabel_soft_margin_loss>,
        T: Shape + TargetOf<S>,
        R: Reduction<<S as HasAxis<-1>>::Removed>,
        T: SameDevice<D, X> + SameDtype<E, F, ops::losses::multilabel_soft_margin_loss>,
    {
        let target = T::alike(T::here(target));
        let (_, op, x, y) = (reduction, "multilabel_soft_margin_loss", self.elements(), target.elements());
        expect_target(op, x.sizes, y.sizes)?;
        let steps = spread(op, weight.given(), x.sizes)?;
        let weight = weight.given().map(|weight| weight.restrided(x.sizes, &steps));
        let storage = multilabel_soft_margin::<E, D>([x, y], weight, R::KIND)?;
        Ok(result(storage, &x.sizes[..x.sizes.len().saturating_sub(1)], R::KIND))
    }
}
