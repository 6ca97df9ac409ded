//! Losses of scores of classes: `cross_entropy` and `nll_loss`.
//!
//! Scores count as `(N, C, L)`, classes in the middle; labels as `(N, L)`. What labels name is gathered: there is no one-hot tensor.
//! Source: `aten/src/ATen/native/LossNLL.cpp`. Uses `loss::reduction`, `ops::losses`, `ops::scan`; used by `any`.

use super::pairs::expect_target;
use super::per_channel::PerChannel;
use super::reduction::{Reduction, divided, narrowed, narrowed_all, of_losses, result};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::arguments::Indexing;
use crate::ops::choosing::IndexFor;
use crate::ops::losses::{
    Blend, Counting, First, Kept, KeptIndex, Losing, LossReduction, NegativeProduct, NegativeSmoothed, Product,
    Quotient,
};
use crate::ops::reduce;
use crate::ops::scan::Softmax;
use crate::shape::{LabelsOf, Scores, Shape, TargetOf};
use crate::storage::View;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// Sizes and strides of scores as `(N, C, L)`. With more than three axes they are row-major.
pub(crate) fn as_scores(sizes: &[usize], strides: &[usize]) -> [[usize; 3]; 2] {
    match (sizes, strides) {
        (&[c], &[step]) => [[1, c, 1], [c * step, step, 1]],
        (&[n, c], &[down, across]) => [[n, c, 1], [down, across, 1]],
        (&[n, c, ref rest @ ..], &[first, second, .., last]) => [[n, c, rest.iter().product()], [first, second, last]],
        _ => [[1; 3]; 2],
    }
}

/// The same of labels as `(N, L)`. With more than two axes they are row-major.
pub(crate) fn as_labels(sizes: &[usize], strides: &[usize]) -> [[usize; 2]; 2] {
    match (sizes, strides) {
        (&[n], &[step]) => [[n, 1], [step, 1]],
        (&[n, ref rest @ ..], &[first, .., last]) => [[n, rest.iter().product()], [first, last]],
        _ => [[1; 2]; 2],
    }
}

/// Labels beside scores, the weights of classes, and the label that is left out.
pub(crate) struct Labelled<'a, D: Device, E> {
    pub(crate) op: &'static str,
    pub(crate) labels: View<'a, D::Storage, i64>,
    pub(crate) weight: Option<View<'a, D::Storage, E>>,
    pub(crate) ignored: i64,
}

/// `(N, L)` row-major.
fn rows(sizes: &[usize; 2]) -> [usize; 2] {
    [sizes[1], 1]
}

impl<E: Dtype, D: Device> Labelled<'_, D, E> {
    fn sizes(&self) -> [usize; 2] {
        [self.labels.sizes[0], self.labels.sizes[1]]
    }

    /// What the labels name of a tensor of `(N, C, L)`; zeros where they are left out.
    fn picked(&self, from: View<'_, D::Storage, E>, index: &D::Storage) -> Result<D::Storage> {
        let [n, l] = self.sizes();
        if n * l == 0 {
            return D::zeroed::<E>(Some(from.buffer), 0);
        }
        let (indexing, to) = (Indexing { op: self.op, axis: 1, wraps: false }, [l, 1]);
        let picked = D::gather(indexing, from, View::new(index, 0, &[n, 1, l], &[l, l, 1]))?;
        let picked = View::<_, E>::new(&picked, 0, self.labels.sizes, &to);
        D::map2::<E, i64, E>(Kept(self.ignored), picked, self.labels, &to)
    }

    /// The losses in `f64`, each times the weight of its class, and the weights; row-major.
    fn losses(&self, logs: View<'_, D::Storage, E>) -> Result<[D::Storage; 2]> {
        let sizes = self.sizes();
        let to = rows(&sizes);
        let index = D::map1::<i64, i64>(KeptIndex(self.ignored), self.labels, &to)?;
        let picked = self.picked(logs, &index)?;
        let weights = match self.weight {
            Some(weight) => {
                let step = weight.strides.first().copied().unwrap_or(1);
                self.picked(weight.restrided(logs.sizes, &[0, step, 0]), &index)?
            }
            None => D::map1::<i64, E>(Counting(self.ignored), self.labels, &to)?,
        };
        let (of_labels, of_weights) =
            (View::<_, E>::new(&picked, 0, &sizes, &to), View::<_, E>::new(&weights, 0, &sizes, &to));
        let losses = D::map2::<E, E, f64>(Losing::<NegativeProduct>::new([0.0; 2]), of_labels, of_weights, &to)?;
        Ok([losses, weights])
    }

    /// What becomes of losses: their mean is weighed.
    fn finished(&self, losses: D::Storage, weights: &D::Storage, reduction: LossReduction) -> Result<D::Storage> {
        let sizes = self.sizes();
        let to = rows(&sizes);
        if reduction != LossReduction::Mean {
            return of_losses::<E, D>(losses, &sizes, reduction);
        }
        let total = D::reduce(reduce::Sum, View::<_, f64>::new(&losses, 0, &sizes, &to), u32::MAX)?;
        let weights = View::<_, E>::new(weights, 0, &sizes, &to);
        let first = Losing::<First>::new([0.0; 2]);
        let weight = D::reduce_pairs::<E, E, f64>(reduce::Sum, first, weights, weights, u32::MAX)?;
        let of = |storage| View::<_, f64>::new(storage, 0, &[], &[]);
        let quotient = Losing::<Quotient>::new([0.0; 2]);
        narrowed::<E, D>(D::map2::<f64, f64, f64>(quotient, of(&total), of(&weight), &[])?)
    }

    /// `nll_loss` of logarithms of probabilities.
    pub(crate) fn nll(&self, logs: View<'_, D::Storage, E>, reduction: LossReduction) -> Result<D::Storage> {
        let [losses, weights] = self.losses(logs)?;
        self.finished(losses, &weights, reduction)
    }

    /// `cross_entropy` of scores, with a share of the labels smoothed over all classes.
    pub(crate) fn cross_entropy(
        &self,
        scores: View<'_, D::Storage, E>,
        smoothing: f64,
        reduction: LossReduction,
    ) -> Result<D::Storage> {
        expect_smoothing(self.op, smoothing)?;
        let [n, c, l] = [scores.sizes[0], scores.sizes[1], scores.sizes[2]];
        let logs = D::lanes::<E, E>(Softmax::<true>, scores, 1)?;
        let (cube, steps) = ([n, c, l], [c * l, l, 1]);
        let logs = View::<_, E>::new(&logs, 0, &cube, &steps);
        let [losses, weights] = self.losses(logs)?;
        if smoothing == 0.0 {
            return self.finished(losses, &weights, reduction);
        }
        let (none, sizes) = ([0.0; 2], [n, l]);
        let to = rows(&sizes);
        let one = D::fill(Some(scores.buffer), E::from_i32(1), 1)?;
        let all = match self.weight {
            Some(weight) => weight.restrided(&cube, &[0, 0, 0]),
            None => View::new(&one, 0, &cube, &[0, 0, 0]),
        };
        let step = self.weight.map_or(0, |weight| weight.strides.first().copied().unwrap_or(1));
        let of_classes = [0, step, 0];
        let all = all.restrided(&cube, &of_classes);
        let smooth = D::reduce_pairs::<E, E, f64>(reduce::Sum, Losing::<NegativeProduct>::new(none), logs, all, 0b10)?;
        let smooth = View::<_, f64>::new(&smooth, 0, &sizes, &to);
        let smooth = D::map2::<f64, i64, f64>(Kept(self.ignored), smooth, self.labels, &to)?;
        let blend = Losing::<Blend>::new([1.0 - smoothing, smoothing / c as f64]);
        let (of_labels, smooth) =
            (View::<_, f64>::new(&losses, 0, &sizes, &to), View::<_, f64>::new(&smooth, 0, &sizes, &to));
        let losses = D::map2::<f64, f64, f64>(blend, of_labels, smooth, &to)?;
        self.finished(losses, &weights, reduction)
    }
}

fn expect_smoothing(op: &'static str, smoothing: f64) -> Result<()> {
    if (0.0..=1.0).contains(&smoothing) {
        return Ok(());
    }
    crate::error::invalid(op, format!("`label_smoothing` must be between 0 and 1, got {smoothing}"))
}

/// `cross_entropy` of scores of `(N, C, L)` beside probabilities of the same sizes.
pub(crate) fn of_probabilities<E: Dtype, D: Device>(
    op: &'static str,
    [scores, target]: [View<'_, D::Storage, E>; 2],
    weight: Option<View<'_, D::Storage, E>>,
    smoothing: f64,
    reduction: LossReduction,
) -> Result<D::Storage> {
    expect_smoothing(op, smoothing)?;
    let [n, c, l] = [scores.sizes[0], scores.sizes[1], scores.sizes[2]];
    let (cube, steps) = ([n, c, l], [c * l, l, 1]);
    let mut logs = D::lanes::<E, E>(Softmax::<true>, scores, 1)?;
    if let Some(weight) = weight {
        let of_classes = [0, weight.strides.first().copied().unwrap_or(1), 0];
        let product = Losing::<Product>::new([0.0; 2]);
        let weight = weight.restrided(&cube, &of_classes);
        logs = D::map2::<E, E, E>(product, View::new(&logs, 0, &cube, &steps), weight, &steps)?;
    }
    let kernel = Losing::<NegativeSmoothed>::new([1.0 - smoothing, smoothing / c as f64]);
    let logs = View::<_, E>::new(&logs, 0, &cube, &steps);
    match reduction {
        LossReduction::None => {
            narrowed_all::<E, D>(D::reduce_pairs::<E, E, f64>(reduce::Sum, kernel, logs, target, 0b10)?, &[n, l])
        }
        LossReduction::Sum => {
            narrowed::<E, D>(D::reduce_pairs::<E, E, f64>(reduce::Sum, kernel, logs, target, u32::MAX)?)
        }
        LossReduction::Mean | LossReduction::BatchMean => {
            let total = D::reduce_pairs::<E, E, f64>(reduce::Sum, kernel, logs, target, u32::MAX)?;
            narrowed::<E, D>(divided::<D>(total, if c == 0 { 0 } else { n * l })?)
        }
    }
}

/// That labels go with scores: these have the axes of the labels and one of classes, as large as the weight.
pub(crate) fn expect_labels(
    op: &'static str,
    scores: &[usize],
    labels: &[usize],
    weight: Option<&[usize]>,
) -> Result<()> {
    let mut kept = scores.to_owned();
    let classes = kept.remove(scores.len().min(2) - 1);
    if kept != labels {
        return Err(Error::Shape {
            op,
            expected: format!("{kept:?}, a label for each list of scores"),
            found: labels.into(),
        });
    }
    match weight {
        Some(weight) if weight != [classes] => {
            Err(Error::Shape { op, expected: format!("[{classes}], a weight for each class"), found: weight.into() })
        }
        _ => Ok(()),
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// With at most three axes as they are, else row-major, so that those behind the classes are one.
    fn scores(&self) -> Result<Self> {
        if S::RANK <= 3 { Ok(self.clone()) } else { self.try_contiguous() }
    }

    fn labels(&self) -> Result<Self> {
        if S::RANK <= 2 { Ok(self.clone()) } else { self.try_contiguous() }
    }

    /// The cross entropy of labels beside scores of classes: how far the [`log_softmax`](Self::log_softmax) of the scores is below 0
    /// at each label. `weight` has a factor for each class, or is `()`; the mean divides by the sum of the factors. Labels equal to
    /// `ignore_index` do not count. A share of `label_smoothing` of each label is spread over all classes.
    ///
    /// Scores are `(C)`, `(N, C)` or `(N, C, d1, …)`; labels, and the losses, have the shape without the axis of classes. Dtypes:
    /// floating-point scores, `i64` labels. `f16` and `bf16` are summed in `f64`.
    ///
    /// PyTorch: `torch.nn.functional.cross_entropy`, where `ignore_index` is -100 and `label_smoothing` 0 if not given. For
    /// probabilities in place of labels see [`cross_entropy_probabilities`](Self::cross_entropy_probabilities).
    ///
    /// # Panics
    /// If a label is out of range, `label_smoothing` is not between 0 and 1, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::{Mean, Unreduced}, shape, tensor, Tensor};
    /// let (scores, labels) = (tensor![[0.0, 0.0], [9.0, 9.0], [0.0, 1000.0]], tensor![0, 1, 0]);
    /// let losses: Tensor<f32, shape![3]> = scores.cross_entropy(&labels, (), -100, 0.0, Unreduced);
    /// assert_eq!(losses.to_vec(), [2.0_f32.ln(), 2.0_f32.ln(), 1000.0]);
    /// assert_eq!(scores.cross_entropy(&labels, &tensor![3.0, 1.0], 0, 0.0, Mean).item(), 2.0_f32.ln());
    /// ```
    #[fallible]
    pub fn cross_entropy<I, T, W, R, X: Device>(
        &self,
        labels: &Tensor<I, T, X>,
        weight: W,
        ignore_index: i64,
        label_smoothing: f64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::cross_entropy>,
        I: Dtype + IndexFor<ops::losses::cross_entropy>,
        S: Scores,
        T: Shape + LabelsOf<S>,
        W: PerChannel<E, S::Classes, D>,
        R: Reduction<S::Labels>,
        T: SameDevice<D, X>,
    {
        let labels = T::here(labels);
        let (_, op) = (reduction, "cross_entropy");
        let loss = |labelled: Labelled<'_, D, E>, scores: View<'_, D::Storage, E>| {
            labelled.cross_entropy(scores, label_smoothing, R::KIND)
        };
        self.labelled(op, labels, weight.given(), ignore_index, R::KIND, loss)
    }

    /// The loss of labels beside logarithms of probabilities: `-x` at each label. `weight` has a factor for each class, or is `()`; the
    /// mean divides by the sum of the factors. Labels equal to `ignore_index` do not count.
    ///
    /// `self` is `(C)`, `(N, C)` or `(N, C, d1, …)`; labels, and the losses, have the shape without the axis of classes. Dtypes:
    /// floating-point, `i64` labels.
    ///
    /// PyTorch: `torch.nn.functional.nll_loss`, where `ignore_index` is -100 if not given.
    ///
    /// # Panics
    /// If a label is out of range, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Mean, tensor};
    /// let (x, labels) = (tensor![[-1.0, -2.0], [-3.0, -4.0]], tensor![1, 0]);
    /// assert_eq!(x.nll_loss(&labels, (), -100, Mean).item(), 2.5);
    /// assert_eq!(x.nll_loss(&labels, &tensor![1.0, 3.0], -100, Mean).item(), (2.0 * 3.0 + 3.0) / 4.0);
    /// ```
    #[fallible]
    pub fn nll_loss<I, T, W, R, X: Device>(
        &self,
        labels: &Tensor<I, T, X>,
        weight: W,
        ignore_index: i64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::nll_loss>,
        I: Dtype + IndexFor<ops::losses::nll_loss>,
        S: Scores,
        T: Shape + LabelsOf<S>,
        W: PerChannel<E, S::Classes, D>,
        R: Reduction<S::Labels>,
        T: SameDevice<D, X>,
    {
        let labels = T::here(labels);
        let (_, op) = (reduction, "nll_loss");
        let loss = |labelled: Labelled<'_, D, E>, scores: View<'_, D::Storage, E>| labelled.nll(scores, R::KIND);
        self.labelled(op, labels, weight.given(), ignore_index, R::KIND, loss)
    }

    fn labelled<I: Dtype, T: Shape, R: Shape>(
        &self,
        op: &'static str,
        labels: &Tensor<I, T, D>,
        weight: Option<View<'_, D::Storage, E>>,
        ignored: i64,
        reduction: LossReduction,
        loss: impl FnOnce(Labelled<'_, D, E>, View<'_, D::Storage, E>) -> Result<D::Storage>,
    ) -> Result<Tensor<E, R, D>> {
        expect_labels(op, self.shape().as_ref(), labels.shape().as_ref(), weight.map(|weight| weight.sizes))?;
        let (scores, labels) = (self.scores()?, labels.labels()?);
        let [sizes, strides] = as_scores(scores.shape().as_ref(), scores.stride().as_ref());
        let view = labels.elements();
        let [rows, steps] = as_labels(view.sizes, view.strides);
        let labels = view.known_as::<i64>().restrided(&rows, &steps);
        let storage = loss(Labelled { op, labels, weight, ignored }, scores.elements().restrided(&sizes, &strides))?;
        Ok(result(storage, view.sizes, reduction))
    }

    /// [`cross_entropy`](Self::cross_entropy) of probabilities of classes beside scores: the sum over classes of
    /// `-target * log_softmax(x)`.
    ///
    /// The target has the shape of `self`, the losses the shape without the axis of classes. Dtypes: floating-point, one for both.
    ///
    /// PyTorch: `torch.nn.functional.cross_entropy`, of a target of the shape of the scores.
    ///
    /// # Panics
    /// If `label_smoothing` is not between 0 and 1, sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Sum, tensor};
    /// let (scores, target) = (tensor![[0.0, 0.0], [5.0, 5.0]], tensor![[0.5, 0.5], [0.25, 0.75]]);
    /// assert_eq!(scores.cross_entropy_probabilities(&target, (), 0.0, Sum).item(), 4.0_f32.ln());
    /// ```
    #[fallible]
    pub fn cross_entropy_probabilities<F: Dtype, T, W, R, X: Device>(
        &self,
        target: &Tensor<F, T, X>,
        weight: W,
        label_smoothing: f64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::cross_entropy> + SameDtypeFor<F, ops::losses::cross_entropy>,
        S: Scores,
        T: Shape + TargetOf<S>,
        W: PerChannel<E, S::Classes, D>,
        R: Reduction<S::Labels>,
        T: SameDevice<D, X>,
    {
        let target = T::here(target);
        let (_, op) = (reduction, "cross_entropy");
        let mut kept = self.shape().as_ref().to_owned();
        expect_target(op, &kept, target.shape().as_ref())?;
        kept.remove(S::AXIS);
        expect_labels(op, self.shape().as_ref(), &kept, weight.given().map(|weight| weight.sizes))?;
        let (scores, target) = (self.scores()?, target.scores()?);
        let [sizes, strides] = as_scores(scores.shape().as_ref(), scores.stride().as_ref());
        let [_, steps] = as_scores(target.shape().as_ref(), target.stride().as_ref());
        let both = [
            scores.elements().restrided(&sizes, &strides),
            target.elements().known_as::<E>().restrided(&sizes, &steps),
        ];
        Ok(result(of_probabilities::<E, D>(op, both, weight.given(), label_smoothing, R::KIND)?, &kept, R::KIND))
    }
}
