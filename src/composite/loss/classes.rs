//! Losses of class scores: `cross_entropy` and `nll_loss`.
//!
//! Scores are viewed as `(N, C, L)`, classes in the middle; labels as `(N, L)`. The scores of the labels are gathered, without a one-hot
//! tensor.
//! Source: `aten/src/ATen/native/LossNLL.cpp`.

use super::reduction::{expect_labels, expect_target};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
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
use crate::tensor::{PerChannel, Reduction, SameDevice, Tensor};
use castiron_macros::composites;

/// Labels of `(N, L)`, the weights of classes, and the ignored label.
struct Labelled<'a, E, D: Device> {
    op: &'static str,
    labels: Erased<'a, i64, D>,
    weight: Option<&'a Erased<'a, E, D>>,
    ignored: i64,
    reduction: LossReduction,
}

impl<E: Dtype, D: Device> Labelled<'_, E, D> {
    /// The elements of `(N, C, L)` at the labels; zeros for ignored ones.
    fn picked(&self, from: &Erased<'_, E, D>, index: &Erased<'_, i64, D>) -> Result<Owned<E, D>> {
        let sizes = self.labels.sizes();
        if self.labels.is_empty() {
            return Ok(Erased::dense(D::zeroed::<E>(Some(from.storage()), 0)?, self.labels.dims()));
        }
        let (indexing, index) =
            (Indexing { op: self.op, axis: 1, wraps: false }, index.reshape(self.op, &[sizes[0], 1, sizes[1]])?);
        let picked = Erased::<E, D>::dense(D::gather(indexing, from.view(), index.view())?, self.labels.dims());
        picked.map2_dense::<i64, E>(self.op, Kept(self.ignored), &self.labels)
    }

    /// The losses in `f64`, each times the weight of its class, and the weights.
    fn losses(&self, logs: &Erased<'_, E, D>) -> Result<(Owned<f64, D>, Owned<E, D>)> {
        let index = self.labels.map1_dense::<i64>(self.op, KeptIndex(self.ignored))?;
        let picked = self.picked(logs, &index)?;
        let weights = match self.weight {
            Some(weight) => self.picked(&weight.of_classes(self.op, logs.sizes())?, &index)?,
            None => self.labels.map1_dense::<E>(self.op, Counting(self.ignored))?,
        };
        let losses = picked.map2_dense::<E, f64>(self.op, Losing::<NegativeProduct>::new([0.0; 2]), &weights)?;
        Ok((losses, weights))
    }

    /// The reduction of losses: their mean is weighted.
    fn finished(&self, losses: Owned<f64, D>, weights: &Owned<E, D>) -> Result<Owned<E, D>> {
        if self.reduction != LossReduction::Mean {
            return losses.reduced(self.op, self.reduction);
        }
        let (first, quotient) = (Losing::<First>::new([0.0; 2]), Losing::<Quotient>::new([0.0; 2]));
        let weight = weights.reduce_pairs::<E, f64, _>(self.op, reduce::Sum, first, weights, u32::MAX)?;
        let total = losses.reduce(reduce::Sum, u32::MAX, false)?;
        total.map2_dense::<f64, f64>(self.op, quotient, &weight)?.narrowed(self.op)
    }
}

fn expect_smoothing(op: &'static str, smoothing: f64) -> Result<()> {
    if (0.0..=1.0).contains(&smoothing) {
        return Ok(());
    }
    invalid(op, format!("`label_smoothing` must be between 0 and 1, got {smoothing}"))
}

/// The sizes of scores as `(N, C, L)`; zero-dim ones have no axis of classes.
fn as_scores(op: &'static str, sizes: &[usize]) -> Result<[usize; 3]> {
    match *sizes {
        [] => invalid(op, "scores have an axis of classes, but are zero-dim".to_owned()),
        [c] => Ok([1, c, 1]),
        [n, c, ref rest @ ..] => Ok([n, c, rest.iter().product()]),
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The cross entropy of class scores and labels: minus the [`log_softmax`](Self::log_softmax) of the scores at each label. `weight` has
    /// a factor for each class, or for a `Tensor` is `()` for none; the mean divides by the sum of the factors. Labels equal to
    /// `ignore_index` are ignored. A share of `label_smoothing` of each label is spread over all classes. In PyTorch `ignore_index` is -100
    /// and `label_smoothing` 0 if not given.
    ///
    /// Scores are `(C)`, `(N, C)` or `(N, C, d1, …)`; labels, which are `i64`, and the losses have the shape without the axis of classes.
    /// In place of labels an `AnyTensor` takes probabilities with the shape of the scores; for a `Tensor` see
    /// [`cross_entropy_probabilities`](crate::Tensor::cross_entropy_probabilities). `f16` and `bf16` are summed in `f64`.
    ///
    /// # Errors
    /// If a label is out of range, `label_smoothing` is not between 0 and 1 or shapes do not match.
    #[op(nn.functional.cross_entropy(input, target, weight = None, size_average = _, ignore_index = -100, reduce = _, reduction = LossReduction::Mean, label_smoothing = 0.0), dtypes = float)]
    #[any(
        if self.shape() == target.shape() && self.rank() != 0 {
            return self.cross_entropy_of_probabilities(target, weight, ignore_index, reduction, label_smoothing);
        },
        ([self, target], [weight]) = self.with_labels("cross_entropy", target, weight)?
    )]
    #[typed(<I, T, W, R, X: Device>(&self, labels: &Tensor<I, T, X>, weight: W, ignore_index: i64, label_smoothing: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::cross_entropy>,
            I: Dtype + IndexFor<ops::losses::cross_entropy>,
            S: Scores,
            T: Shape + LabelsOf<S>,
            W: PerChannel<E, S::Classes, D>,
            R: Reduction<S::Labels>,
            T: SameDevice<D, X>)]
    #[example(let scores = tensor![[0.0, 0.0], [9.0, 9.0], [0.0, 1000.0]]; let labels = tensor![0, 1, 0]; scores.cross_entropy(&labels, (), -100, 0.0, Unreduced), scores.cross_entropy(&labels, None, -100, LossReduction::None, 0.0), tensor![2.0_f32.ln(), 2.0_f32.ln(), 1000.0])]
    #[example(let scores = tensor![[0.0, 0.0], [9.0, 9.0]]; let labels = tensor![0, 1]; let weight = tensor![3.0, 1.0]; scores.cross_entropy(&labels, &weight, 0, 0.0, Mean), scores.cross_entropy(&labels, Some(&weight), 0, LossReduction::Mean, 0.0), Tensor::scalar(2.0_f32.ln()))]
    pub(crate) fn cross_entropy(
        &self,
        target: &Erased<'_, i64, D>,
        weight: Option<&Erased<'_, E, D>>,
        ignore_index: i64,
        reduction: LossReduction,
        label_smoothing: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "cross_entropy";
        let loss = |labelled: &Labelled<'_, E, D>, scores: &Erased<'_, E, D>| {
            expect_smoothing(op, label_smoothing)?;
            let logs = scores.log_softmax_of_classes()?;
            let (losses, weights) = labelled.losses(&logs)?;
            if label_smoothing == 0.0 {
                return labelled.finished(losses, &weights);
            }
            let one = Erased::dense(D::fill(Some(scores.storage()), E::from_i32(1), 1)?, Dims::known(&[1; 3]));
            let all = match labelled.weight {
                Some(weight) => weight.of_classes(op, logs.sizes())?,
                None => one.expand(op, logs.sizes())?,
            };
            let product = Losing::<NegativeProduct>::new([0.0; 2]);
            let smooth = logs.reduce_pairs::<E, f64, _>(op, reduce::Sum, product, &all, 0b10)?;
            let smooth = smooth.map2_dense::<i64, f64>(op, Kept(ignore_index), &labelled.labels)?;
            let blend = Losing::<Blend>::new([1.0 - label_smoothing, label_smoothing / logs.sizes()[1] as f64]);
            labelled.finished(losses.map2_dense::<f64, f64>(op, blend, &smooth)?, &weights)
        };
        self.labelled(op, target, weight, ignore_index, reduction, loss)
    }

    /// The negative log-likelihood of labels: `-x` at each label, `x` being log-probabilities. `weight` has a factor for each class, or for
    /// a `Tensor` is `()` for none; the mean divides by the sum of the factors. Labels equal to `ignore_index` are ignored. In PyTorch
    /// `ignore_index` is -100 if not given.
    ///
    /// The log-probabilities are `(C)`, `(N, C)` or `(N, C, d1, …)`; labels, which are `i64`, and the losses have the shape without the
    /// axis of classes.
    ///
    /// # Errors
    /// If a label is out of range or shapes do not match.
    #[op(nn.functional.nll_loss(input, target, weight = None, size_average = _, ignore_index = -100, reduce = _, reduction = LossReduction::Mean), dtypes = float)]
    #[any(([self, target], [weight]) = self.with_labels("nll_loss", target, weight)?)]
    #[typed(<I, T, W, R, X: Device>(&self, labels: &Tensor<I, T, X>, weight: W, ignore_index: i64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::nll_loss>,
            I: Dtype + IndexFor<ops::losses::nll_loss>,
            S: Scores,
            T: Shape + LabelsOf<S>,
            W: PerChannel<E, S::Classes, D>,
            R: Reduction<S::Labels>,
            T: SameDevice<D, X>)]
    #[example(let x = tensor![[-1.0, -2.0], [-3.0, -4.0]]; let labels = tensor![1, 0]; x.nll_loss(&labels, (), -100, Mean), x.nll_loss(&labels, None, -100, LossReduction::Mean), Tensor::scalar(2.5))]
    #[example(let x = tensor![[-1.0, -2.0], [-3.0, -4.0]]; let labels = tensor![1, 0]; let weight = tensor![1.0, 3.0]; x.nll_loss(&labels, &weight, -100, Mean), x.nll_loss(&labels, Some(&weight), -100, LossReduction::Mean), Tensor::scalar((2.0 * 3.0 + 3.0) / 4.0))]
    pub(crate) fn nll_loss(
        &self,
        target: &Erased<'_, i64, D>,
        weight: Option<&Erased<'_, E, D>>,
        ignore_index: i64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let loss = |labelled: &Labelled<'_, E, D>, logs: &Erased<'_, E, D>| {
            let (losses, weights) = labelled.losses(logs)?;
            labelled.finished(losses, &weights)
        };
        self.labelled("nll_loss", target, weight, ignore_index, reduction, loss)
    }

    /// A loss of scores as `(N, C, L)` and labels as `(N, L)`; with scores of `(C)` the label may be a list of one.
    fn labelled(
        &self,
        op: &'static str,
        target: &Erased<'_, i64, D>,
        weight: Option<&Erased<'_, E, D>>,
        ignored: i64,
        reduction: LossReduction,
        loss: impl FnOnce(&Labelled<'_, E, D>, &Erased<'_, E, D>) -> Result<Owned<E, D>>,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let [n, c, l] = as_scores(op, self.sizes())?;
        let one = self.rank() == 1 && target.sizes() == [1];
        expect_labels(op, self.sizes(), if one { &[] } else { target.sizes() }, weight.map(Erased::sizes))?;
        let labels = target.reshape(op, &[n, l])?;
        let loss = loss(&Labelled { op, labels, weight, ignored, reduction }, &self.reshape(op, &[n, c, l])?)?;
        Ok(if reduction == LossReduction::None { loss.resized(target.dims()) } else { loss })
    }

    /// [`cross_entropy`](Self::cross_entropy) of scores and class probabilities: the sum over classes of `-target * log_softmax(x)`.
    ///
    /// The target has the shape of the scores, the losses the shape without the axis of classes. Both have one dtype.
    ///
    /// # Errors
    /// If `label_smoothing` is not between 0 and 1 or shapes do not match.
    #[op(nn.functional.cross_entropy, dtypes = float)]
    #[any(by_hand)]
    #[typed(<F: Dtype, T, W, R, X: Device>(&self, target: &Tensor<F, T, X>, weight: W, label_smoothing: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::cross_entropy> + SameDtypeFor<F, ops::losses::cross_entropy>,
            S: Scores,
            T: Shape + TargetOf<S>,
            W: PerChannel<E, S::Classes, D>,
            R: Reduction<S::Labels>,
            T: SameDevice<D, X>)]
    #[example(let scores = tensor![[0.0, 0.0], [5.0, 5.0]]; let target = tensor![[0.5, 0.5], [0.25, 0.75]]; scores.cross_entropy_probabilities(&target, (), 0.0, Sum), scores.cross_entropy(&target, None, -100, LossReduction::Sum, 0.0), Tensor::scalar(4.0_f32.ln()))]
    pub(crate) fn cross_entropy_probabilities(
        &self,
        target: &Erased<'_, E, D>,
        weight: Option<&Erased<'_, E, D>>,
        label_smoothing: f64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "cross_entropy";
        let cube = as_scores(op, self.sizes())?;
        expect_target(op, self.sizes(), target.sizes())?;
        let mut kept = self.sizes().to_owned();
        kept.remove(self.rank().min(2) - 1);
        expect_labels(op, self.sizes(), &kept, weight.map(Erased::sizes))?;
        expect_smoothing(op, label_smoothing)?;
        let target = target.reshape(op, &cube)?;
        let mut logs = self.reshape(op, &cube)?.log_softmax_of_classes()?;
        if let Some(weight) = weight {
            let product = Losing::<Product>::new([0.0; 2]);
            logs = logs.map2_dense::<E, E>(op, product, &weight.of_classes(op, &cube)?)?;
        }
        let [n, c, l] = cube;
        let kernel = Losing::<NegativeSmoothed>::new([1.0 - label_smoothing, label_smoothing / c as f64]);
        let summed = |mask| logs.reduce_pairs::<E, f64, _>(op, reduce::Sum, kernel, &target, mask);
        match reduction {
            LossReduction::None => Ok(summed(0b10)?.narrowed::<E>(op)?.resized(Dims::known(&kept))),
            LossReduction::Sum => summed(u32::MAX)?.narrowed(op),
            _ => summed(u32::MAX)?.divided(op, if c == 0 { 0 } else { n * l })?.narrowed(op),
        }
    }

    fn log_softmax_of_classes(&self) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        Ok(Erased::dense(D::lanes::<E, E>(Softmax::<true>, self.view(), 1)?, self.dims()))
    }

    /// A number for each class, broadcast to `(N, C, L)`.
    fn of_classes(&self, op: &'static str, cube: &[usize]) -> Result<Erased<'_, E, D>> {
        self.viewed(op, 3, |own, view| {
            view.sizes.copy_from_slice(cube);
            view.strides.copy_from_slice(&[0, own.strides.first().copied().unwrap_or(0), 0]);
            Ok(own.offset)
        })
    }

    /// Row-major elements with other sizes of the same product.
    fn resized(self, sizes: Dims) -> Owned<E, D> {
        let (storage, ..) = self.into_parts();
        Erased::dense(storage, sizes)
    }
}
