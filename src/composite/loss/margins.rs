//! Losses by margins between classes: `multi_margin_loss`, `multilabel_margin_loss`, `multilabel_soft_margin_loss`.
//!
//! Source: `aten/src/ATen/native/LossMultiMargin.cpp`, `LossMultiLabelMargin.cpp`. The first two are computed on the host.

use super::distances::last_axis;
use super::reduction::{expect_labels, expect_target};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Compute, Dtype, Element};
#[cfg(feature = "grad")]
use crate::error::listed;
use crate::error::{Error, Result, filled, invalid};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::choosing::{IndexFor, WideFloatFor};
use crate::ops::losses::{Losing, LossReduction, MultilabelSoftMargin, Product};
use crate::ops::reduce;
use crate::shape::{HasAxis, LabelsOf, ListOrMatrix, Scores, Shape, TargetOf};
use crate::tensor::{LossWeight, PerChannel, Reduction, SameDevice, SameDtype, Tensor};
use castiron_macros::composites;
use core::marker::PhantomData;

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
        let ones;
        let weight = match weight {
            Some(weight) => Erased::of(weight.view()),
            None => {
                let one = E::from_compute(Compute::number(1.0));
                ones = Owned::<E, D>::list(D::fill::<E>(Some(self.storage()), one, 1)?, 1);
                ones.expand(op, &[c])?
            }
        };
        let losing = Margins::<E> { sizes: [n, c], p, margin, dtype: PhantomData };
        let operands = (Erased::of(self.view()), Erased::of(target.view()), weight);
        let (losses, ..) = D::primitive(&losing, operands)?.0.into_parts();
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
        let losing = ManyMargins::<E> { sizes: [n, c], dtype: PhantomData };
        let operands = (Erased::of(self.view()), Erased::of(target.view()));
        let (losses, ..) = D::primitive(&losing, operands)?.0.into_parts();
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

/// Losses of rows by the margins between the score of the label and the others.
#[derive(Clone)]
struct Margins<E> {
    /// Rows and classes.
    sizes: [usize; 2],
    p: f64,
    margin: f64,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Margins<E> {
    /// Calls a function with the number, the label and the scores of each row.
    fn each_row(&self, scores: &[E], labels: &[i64], see: &mut dyn FnMut(usize, usize, &[E])) -> Result<()> {
        let [n, c] = self.sizes;
        for row in 0..n {
            let label = usize::try_from(labels[row]).ok().filter(|&label| label < c);
            let label = label.ok_or(Error::IndexValue { op: self.op(), index: labels[row], axis: 1, size: c })?;
            see(row, label, &scores[row * c..][..c]);
        }
        Ok(())
    }
    /// How far a class is beyond the margin.
    #[inline]
    fn beyond(&self, label: f64, class: E) -> f64 {
        (self.margin - label + class.cast::<f64>()).max(0.0)
    }
}
impl<E: Dtype> Primitive for Margins<E> {
    type Operands = (E, i64, E);
    type Results = (f64,);
    fn op(&self) -> &'static str {
        "multi_margin_loss"
    }
    fn run<D: Device>(&self, (x, target, weight): On<'_, (E, i64, E), D>) -> Result<On<'static, (f64,), D>> {
        let ([n, c], operands) = (self.sizes, ((x.view(), target.view()), weight.view()));
        let losses = on_host::<D, _, Vec<f64>>(self.op(), operands, |((scores, labels), weights)| {
            let mut losses = filled(0.0, n)?;
            self.each_row(&scores, &labels, &mut |row, label, own| {
                let (of_label, [before, after]) = (own[label].cast(), [&own[..label], &own[label + 1..]]);
                let power = |beyond: f64| if self.p == 1.0 { beyond } else { beyond * beyond };
                let sum: f64 = before.iter().chain(after).map(|&x| power(self.beyond(of_label, x))).sum();
                losses[row] = sum * weights[label].cast::<f64>() / c as f64;
            })?;
            Ok(losses)
        })?;
        Ok((Erased::list(losses, n),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b111, 0];
    /// Computed on the host. As in PyTorch weights have no gradient.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, i64, E), D>> {
        let (Some(g),) = &back.g else { return Ok((None, None, None)) };
        crate::device::expect_constant("the weight of multi_margin_loss", back.wants[2])?;
        let (x, target, weight) = (read(&back.x.0)?, read(&back.x.1)?, read(&back.x.2)?);
        let ([n, c], operands) = (self.sizes, (((x.view(), target.view()), weight.view()), g.view()));
        let sums = on_host::<D, _, Vec<E>>(self.op(), operands, |(((scores, labels), weights), g): (_, Vec<f64>)| {
            let of = |x: f64| E::from_compute(Compute::number(x));
            let mut sums = filled(of(0.0), n * c)?;
            self.each_row(&scores, &labels, &mut |row, label, own| {
                let (of_label, factor) = (own[label].cast(), weights[label].cast::<f64>() / c as f64 * g[row]);
                let (to, mut all) = (&mut sums[row * c..][..c], 0.0);
                for (class, (to, &x)) in to.iter_mut().zip(own).enumerate() {
                    let beyond = self.beyond(of_label, x);
                    let slope = if self.p == 1.0 { 1.0 } else { 2.0 * beyond } * factor;
                    let slope = if beyond > 0.0 && class != label { slope } else { 0.0 };
                    *to = of(slope);
                    all -= slope;
                }
                to[label] = of(all);
            })?;
            Ok(sums)
        })?;
        Ok((Some(Erased::dense(sums, back.sizes[0])), None, None))
    }
}

/// Losses of rows by the margins between the scores of labels and the others.
#[derive(Clone)]
struct ManyMargins<E> {
    /// Rows and classes.
    sizes: [usize; 2],
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> ManyMargins<E> {
    /// Calls a function with the number, the labels and the other classes of each row, and with the scores of both.
    fn each_row(
        &self,
        scores: &[E],
        labels: &[i64],
        see: &mut dyn FnMut(usize, [&[usize]; 2], [&[f64]; 2]),
    ) -> Result<()> {
        let ([n, c], op) = (self.sizes, self.op());
        let (mut is_label, mut places, mut values) =
            (filled(false, c)?, [filled(0, c)?, filled(0, c)?], [filled(0.0, c)?, filled(0.0, c)?]);
        for row in 0..n {
            let (own, list) = (&scores[row * c..][..c], &labels[row * c..][..c]);
            is_label.fill(false);
            let mut counts = [0; 2];
            let mut put = |of: usize, class: usize| {
                places[of][counts[of]] = class;
                values[of][counts[of]] = own[class].cast::<f64>();
                counts[of] += 1;
            };
            for &label in list.iter().take_while(|&&label| label >= 0) {
                let out_of_range = Error::IndexValue { op, index: label, axis: 1, size: c };
                *is_label.get_mut(label as usize).ok_or(out_of_range)? = true;
                put(0, label as usize);
            }
            if let Some(&label) = list.iter().find(|&&label| label < -1) {
                return Err(Error::IndexValue { op, index: label, axis: 1, size: c });
            }
            (0..c).filter(|&class| !is_label[class]).for_each(|class| put(1, class));
            let [labels, others] = counts;
            see(row, [&places[0][..labels], &places[1][..others]], [&values[0][..labels], &values[1][..others]]);
        }
        Ok(())
    }
}
impl<E: Dtype> Primitive for ManyMargins<E> {
    type Operands = (E, i64);
    type Results = (f64,);
    fn op(&self) -> &'static str {
        "multilabel_margin_loss"
    }
    fn run<D: Device>(&self, (x, target): On<'_, (E, i64), D>) -> Result<On<'static, (f64,), D>> {
        let [n, c] = self.sizes;
        let losses = on_host::<D, _, Vec<f64>>(self.op(), (x.view(), target.view()), |(scores, labels)| {
            let mut losses = filled(0.0, n)?;
            self.each_row(&scores, &labels, &mut |row, _, [labels, others]| {
                // Summed for each label first.
                let of = |&label: &f64| others.iter().map(|class| (1.0 - label + class).max(0.0)).sum::<f64>();
                losses[row] = labels.iter().map(of).sum();
            })?;
            losses.iter_mut().for_each(|loss| *loss /= c as f64);
            Ok(losses)
        })?;
        Ok((Erased::list(losses, n),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b11, 0];
    /// Computed on the host.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, i64), D>> {
        let (Some(g),) = &back.g else { return Ok((None, None)) };
        let (x, target, [n, c]) = (read(&back.x.0)?, read(&back.x.1)?, self.sizes);
        let operands = ((x.view(), target.view()), g.view());
        let sums = on_host::<D, _, Vec<E>>(self.op(), operands, |((scores, labels), g): (_, Vec<f64>)| {
            let (mut sums, mut counts) = (filled(0.0, n * c)?, filled(0.0, c)?);
            self.each_row(&scores, &labels, &mut |row, [labels, others], [of_labels, of_others]| {
                // The labels that each other class is beyond the margin of.
                let (to, counts) = (&mut sums[row * c..][..c], &mut counts[..others.len()]);
                counts.fill(0.0);
                for (&label, &score) in labels.iter().zip(of_labels) {
                    let mut all = 0.0;
                    for (count, &class) in counts.iter_mut().zip(of_others) {
                        let is_beyond = f64::from(1.0 - score + class > 0.0);
                        *count += is_beyond;
                        all += is_beyond;
                    }
                    to[label] -= all * g[row] / c as f64;
                }
                others.iter().zip(&*counts).for_each(|(&class, count)| to[class] += count * g[row] / c as f64);
            })?;
            listed(sums.into_iter().map(|x| E::from_compute(Compute::number(x))))
        })?;
        Ok((Some(Erased::dense(sums, back.sizes[0])), None))
    }
}
