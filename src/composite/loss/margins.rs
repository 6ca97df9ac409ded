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
    /// Calls a function with row, label, class, factor and how far the class is beyond the margin, for each that is.
    fn each(
        &self,
        [scores, weights]: [&[E]; 2],
        labels: &[i64],
        see: &mut dyn FnMut([usize; 3], f64, f64),
    ) -> Result<()> {
        let [n, c] = self.sizes;
        for row in 0..n {
            let number = |class: usize| scores[row * c + class].cast::<f64>();
            let label = usize::try_from(labels[row]).ok().filter(|&label| label < c);
            let label = label.ok_or(Error::IndexValue { op: self.op(), index: labels[row], axis: 1, size: c })?;
            for class in (0..c).filter(|&class| class != label) {
                let beyond = (self.margin - number(label) + number(class)).max(0.0);
                see([row, label, class], weights[label].cast::<f64>(), beyond);
            }
        }
        Ok(())
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
            let (mut losses, mut factors) = (filled(0.0, n)?, filled(0.0, n)?);
            self.each([&scores, &weights], &labels, &mut |[row, ..], factor, beyond| {
                losses[row] += if self.p == 1.0 { beyond } else { beyond * beyond };
                factors[row] = factor;
            })?;
            losses.iter_mut().zip(factors).for_each(|(loss, factor)| *loss = *loss * factor / c as f64);
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
            let mut sums = filled(0.0, n * c)?;
            self.each([&scores, &weights], &labels, &mut |[row, label, class], factor, beyond| {
                if beyond > 0.0 {
                    let slope = if self.p == 1.0 { 1.0 } else { 2.0 * beyond } * factor / c as f64 * g[row];
                    sums[row * c + class] += slope;
                    sums[row * c + label] -= slope;
                }
            })?;
            listed(sums.into_iter().map(|x| E::from_compute(Compute::number(x))))
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
    /// Calls a function with row, label, class and how far the class is beyond the margin, for each label and each other class.
    fn each(&self, scores: &[E], labels: &[i64], see: &mut dyn FnMut([usize; 3], f64)) -> Result<()> {
        let ([n, c], op) = (self.sizes, self.op());
        for row in 0..n {
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
            for &label in &list[..count] {
                let score = own[label as usize].cast::<f64>();
                for class in (0..c).filter(|&class| !is_label[class]) {
                    see([row, label as usize, class], (1.0 - score + own[class].cast::<f64>()).max(0.0));
                }
            }
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
            // Summed for each label first.
            let (mut sum, mut place) = (0.0, None);
            self.each(&scores, &labels, &mut |[row, label, _], beyond| {
                if place != Some((row, label)) {
                    if let Some((row, _)) = place {
                        losses[row] += sum;
                    }
                    (sum, place) = (0.0, Some((row, label)));
                }
                sum += beyond;
            })?;
            if let Some((row, _)) = place {
                losses[row] += sum;
            }
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
            let mut sums = filled(0.0, n * c)?;
            self.each(&scores, &labels, &mut |[row, label, class], beyond| {
                if beyond > 0.0 {
                    sums[row * c + class] += g[row] / c as f64;
                    sums[row * c + label] -= g[row] / c as f64;
                }
            })?;
            listed(sums.into_iter().map(|x| E::from_compute(Compute::number(x))))
        })?;
        Ok((Some(Erased::dense(sums, back.sizes[0])), None))
    }
}
