//! Losses of class scores: `cross_entropy` and `nll_loss`.
//!
//! Scores are viewed as `(N, C, L)`, classes in the middle; labels as `(N, L)`. The scores of the labels are gathered, without a one-hot
//! tensor.
//! Source: `aten/src/ATen/native/LossNLL.cpp`.

use super::reduction::{expect_labels, expect_target};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
#[cfg(feature = "grad")]
use crate::cpu::norm_back::labelled;
use crate::device::Device;
#[cfg(feature = "grad")]
use crate::dtype::{Castable, DType};
use crate::dtype::{Dtype, Element};
#[cfg(feature = "grad")]
use crate::error::listed;
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::arguments::Indexing;
#[cfg(feature = "grad")]
use crate::ops::choosing::AddingScaled;
use crate::ops::choosing::IndexFor;
#[cfg(feature = "grad")]
use crate::ops::kernel::Casting;
#[cfg(feature = "grad")]
use crate::ops::losses::ExpTimes;
use crate::ops::losses::{
    Blend, Counting, First, Kept, KeptIndex, KeptLoss, Losing, LossReduction, NegativeProduct, NegativeSmoothed,
    Product, Quotient,
};
use crate::ops::reduce;
use crate::ops::scan::Softmax;
use crate::shape::{LabelsOf, Scores, Shape, TargetOf};
#[cfg(feature = "grad")]
use crate::storage::ViewMut;
use crate::tensor::{PerChannel, Reduction, SameDevice, Tensor};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The loss of labels of `(N, L)` under scores of `(N, C, L)`, with or without weights of classes.
///
/// It is one step of a tape: the gradient of the scores is the [`softmax`](Erased::softmax) of each list of them minus its label, times the
/// gradient of its loss.
/// Source: `aten/src/ATen/native/LossNLL.cpp`.
#[derive(Clone)]
pub(crate) struct OfLabels<E> {
    op: &'static str,
    ignored: i64,
    reduction: LossReduction,
    smoothing: f64,
    /// Whether it is given scores; else their [`log_softmax`](Erased::log_softmax).
    of_scores: bool,
    has_weights: bool,
    dtype: PhantomData<fn() -> E>,
}

/// [`OfLabels::recorded`]: passed where there are weights, so that a program without them does not compile it.
pub(crate) type RecordedLoss<E, D> =
    fn(&OfLabels<E>, &Erased<'_, E, D>, &Erased<'_, i64, D>, &Erased<'_, E, D>) -> Result<Owned<E, D>>;

impl<E: Dtype> OfLabels<E> {
    fn new(op: &'static str, ignored: i64, reduction: LossReduction) -> Self {
        OfLabels { op, ignored, reduction, smoothing: 0.0, of_scores: false, has_weights: false, dtype: PhantomData }
    }

    /// The loss, each of whose operations a tape records.
    pub(crate) fn recorded<D: Device>(
        &self,
        x: &Erased<'_, E, D>,
        labels: &Erased<'_, i64, D>,
        weight: &Erased<'_, E, D>,
    ) -> Result<Owned<E, D>> {
        self.loss(x, labels, weight).map(|(loss, _)| loss)
    }

    /// The loss, and the log-probabilities if it computed them.
    fn loss<D: Device>(
        &self,
        x: &Erased<'_, E, D>,
        labels: &Erased<'_, i64, D>,
        weight: &Erased<'_, E, D>,
    ) -> Result<(Owned<E, D>, Option<Owned<E, D>>)> {
        let op = self.op;
        let computed = if self.of_scores { Some(x.log_softmax_of_classes()?) } else { None };
        let logs = computed.as_ref().unwrap_or(x);
        #[cfg(feature = "grad")]
        if let Some(loss) = self.loss_of_few(logs, labels)? {
            return Ok((loss, computed));
        }
        let index = self.index(labels)?;
        let picked = self.picked(logs, labels, &index)?;
        let weights = if self.has_weights {
            let weights = self.picked(&weight.of_classes(op, logs.sizes())?, labels, &index)?;
            Some(weights.map2_dense::<i64, E>(op, Kept(self.ignored), labels)?)
        } else {
            None
        };
        let mut losses = match &weights {
            Some(weights) => picked.map2_dense::<i64, E>(op, Kept(self.ignored), labels)?.map2_dense::<E, f64>(
                op,
                Losing::<NegativeProduct>::new([0.0; 2]),
                weights,
            )?,
            None => picked.map2_dense::<i64, f64>(op, KeptLoss(self.ignored), labels)?,
        };
        if self.smoothing != 0.0 {
            let product = Losing::<NegativeProduct>::new([0.0; 2]);
            let all = self.all_weights(&logs.dims(), logs, weight)?;
            let smooth = logs.reduce_pairs::<E, f64, _>(op, reduce::Sum, product, &all, 0b10)?;
            let smooth = smooth.map2_dense::<i64, f64>(op, Kept(self.ignored), labels)?;
            let [kept, spread] = self.shares(logs.sizes());
            losses = losses.map2_dense::<f64, f64>(op, Losing::<Blend>::new([kept, spread]), &smooth)?;
        }
        let loss = match self.reduction {
            LossReduction::Mean => {
                let total = losses.reduce(reduce::Sum, u32::MAX, false)?;
                let weight = self.total(labels, weights.as_ref())?;
                total.map2_dense::<f64, E>(op, Losing::<Quotient>::new([0.0; 2]), &weight)?
            }
            reduction => losses.reduced(op, reduction)?,
        };
        Ok((loss, computed))
    }

    /// The sum or mean of few losses on the host: calls would take longer than their loops. `None` where calls compute it.
    #[cfg(feature = "grad")]
    fn loss_of_few<D: Device>(
        &self,
        logs: &Erased<'_, E, D>,
        labels: &Erased<'_, i64, D>,
    ) -> Result<Option<Owned<E, D>>> {
        if const { E::DTYPE as u8 != DType::F32 as u8 } || self.reduction == LossReduction::None {
            return Ok(None);
        }
        let logs = logs.known_as::<f32>();
        let Some((of, labels)) = self.few(&logs, labels) else { return Ok(None) };
        let (mut sum, mut count) = (0.0, 0);
        for (row, &label) in of.chunks_exact(logs.sizes()[1]).zip(labels) {
            if label != self.ignored {
                let Some(&log) = usize::try_from(label).ok().and_then(|label| row.get(label)) else { return Ok(None) };
                sum -= f64::from(log);
                count += 1;
            }
        }
        let loss = if self.reduction == LossReduction::Mean { sum / f64::from(count) } else { sum };
        let storage = D::fill(Some(logs.storage()), loss as f32, 1)?;
        Ok(Some(Erased::<f32, D>::dense(storage, Dims::known(&[])).retyped()))
    }
    /// The gradient of the scores of few labels on the host, given that of their loss.
    #[cfg(feature = "grad")]
    fn gradient_of_few<D: Device>(
        &self,
        logs: &Erased<'_, E, D>,
        labels: &Erased<'_, i64, D>,
        g: &Erased<'_, E, D>,
    ) -> Result<Option<Owned<E, D>>> {
        if const { E::DTYPE as u8 != DType::F32 as u8 } || !self.of_scores {
            return Ok(None);
        }
        let (logs, g) = (logs.known_as::<f32>(), g.known_as::<f32>());
        let (Some((of, labels)), Some(g)) = (self.few(&logs, labels), g.on_host()) else { return Ok(None) };
        let count = labels.iter().filter(|&&label| label != self.ignored).count() as f32;
        let rows = listed(labels.iter().enumerate().map(|(at, &label)| {
            let g = *g.get(at).unwrap_or(&g[0]);
            let g = if self.reduction == LossReduction::Mean { g / count } else { g };
            // (A label that is no class has been refused.)
            ((label != self.ignored).then_some(label as usize), g)
        }))?;
        let Some(found) = labelled(of, logs.sizes()[1], &rows)? else { return Ok(None) };
        Erased::<f32, D>::of_host(found, logs.dims(), logs.dims().row_major()).map(|found| Some(found.retyped()))
    }
    /// The elements of log-probabilities and labels, if they are few rows on the host, all with the same weight.
    #[cfg(feature = "grad")]
    fn few<'a, D: Device>(
        &self,
        logs: &'a Erased<'_, f32, D>,
        labels: &'a Erased<'_, i64, D>,
    ) -> Option<(&'a [f32], &'a [i64])> {
        let is_few =
            (1..=FEW).contains(&logs.numel()) && logs.sizes()[2] == 1 && logs.strides() == &*logs.dims().row_major();
        if !is_few || self.has_weights || self.smoothing != 0.0 {
            return None;
        }
        Some((logs.on_host()?, labels.on_host()?))
    }

    /// The labels as indices; those that are ignored are 0.
    fn index<D: Device>(&self, labels: &Erased<'_, i64, D>) -> Result<Owned<i64, D>> {
        labels.map1_dense::<i64>(self.op, KeptIndex(self.ignored))
    }
    fn indexing(&self) -> Indexing {
        Indexing { op: self.op, axis: 1, wraps: false }
    }
    /// The elements of `(N, C, L)` at the labels.
    fn picked<D: Device>(
        &self,
        from: &Erased<'_, E, D>,
        labels: &Erased<'_, i64, D>,
        index: &Erased<'_, i64, D>,
    ) -> Result<Owned<E, D>> {
        let sizes = labels.sizes();
        if labels.is_empty() {
            return Ok(Erased::dense(D::zeroed::<E>(Some(from.storage()), 0)?, labels.dims()));
        }
        let index = index.reshape(self.op, &[sizes[0], 1, sizes[1]])?;
        Ok(Erased::dense(D::gather(self.indexing(), from.view(), index.view())?, labels.dims()))
    }
    /// What the mean divides by: the sum of the weights, or the number of labels that are not ignored.
    fn total<D: Device>(&self, labels: &Erased<'_, i64, D>, weights: Option<&Owned<E, D>>) -> Result<Owned<f64, D>> {
        match weights {
            Some(weights) => {
                let first = Losing::<First>::new([0.0; 2]);
                weights.reduce_pairs::<E, f64, _>(self.op, reduce::Sum, first, weights, u32::MAX)
            }
            None => labels.map1_dense::<f64>(self.op, Counting(self.ignored))?.reduce(reduce::Sum, u32::MAX, false),
        }
    }
    /// The weight of each class as `(N, C, L)`.
    fn all_weights<D: Device>(
        &self,
        cube: &Dims,
        near: &Erased<'_, E, D>,
        weight: &Erased<'_, E, D>,
    ) -> Result<Owned<E, D>> {
        if self.has_weights {
            return Ok(weight.of_classes(self.op, cube)?.share());
        }
        let one = D::fill(Some(near.storage()), E::from_i32(1), 1)?;
        Ok(Erased::fresh(one, *cube, Dims::known(&[0; 3])))
    }
    /// The shares of a label and of each class.
    fn shares(&self, cube: &[usize]) -> [f64; 2] {
        [1.0 - self.smoothing, self.smoothing / cube[1] as f64]
    }
}

/// The most log-probabilities that count as few.
#[cfg(feature = "grad")]
const FEW: usize = 1 << 14;

impl<E: Dtype> Primitive for OfLabels<E> {
    /// Scores, labels and weights.
    type Operands = (E, i64, E);
    /// The loss, and log-probabilities, as far as they were computed.
    type Results = (E, E);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x, labels, weight): On<'_, (E, i64, E), D>) -> Result<On<'static, (E, E), D>> {
        let (loss, logs) = self.loss(&x, &labels, &weight)?;
        let logs = match logs {
            Some(logs) => logs,
            None => Erased::list(D::zeroed::<E>(Some(x.storage()), 0)?, 0),
        };
        Ok((loss, logs))
    }

    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b110, 0b10];
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, i64, E), D>> {
        let (op, none) = (self.op, [0.0; 2]);
        // The log-probabilities have a gradient where this way back has one: they are read here.
        let of_logs = match &back.g.1 {
            Some(g) if self.of_scores && !g.is_empty() => {
                let sum = g.reduce(reduce::Sum, 0b10, true)?;
                let logs = read(&back.y.1)?;
                let spread = logs.map2_dense::<E::Sum, E::Compute>(op, Losing::<ExpTimes>::new(none), &sum)?;
                Some(g.map2_dense::<E::Compute, E>(op, Losing::<Blend>::new([1.0, -1.0]), &spread)?)
            }
            _ => None,
        };
        let (Some(g), _) = &back.g else { return Ok((of_logs, None, None)) };
        let (labels, weight) = (read(&back.x.1)?, read(&back.x.2)?);
        let cube = back.sizes[0];
        if labels.is_empty() || !back.wants[0] {
            return Ok((None, None, None));
        }
        if let (None, Some(logs)) = (&of_logs, &back.y.1)
            && let Some(d) = self.gradient_of_few(logs, labels, g)?
        {
            return Ok((Some(d), None, None));
        }
        let index = self.index(labels)?;
        let place = [cube[0], 1, cube[2]];
        // Of each list of scores: the gradient of its loss, and the same times the weight of the label.
        let mut rows = g.to::<E::Compute>(op)?.share();
        let mut weights = None;
        if self.has_weights {
            let picked = self.picked(&weight.of_classes(op, &cube)?, labels, &index)?;
            weights = Some(picked.map2_dense::<i64, E>(op, Kept(self.ignored), labels)?);
        }
        if self.reduction == LossReduction::Mean {
            let total = self.total(labels, weights.as_ref())?;
            rows = rows.map2_dense::<f64, E::Compute>(op, Losing::<Quotient>::new(none), &total)?;
        }
        let rows = rows.map2_dense::<i64, E::Compute>(op, Kept(self.ignored), labels)?;
        let of_labels = match &weights {
            Some(weights) => rows.map2_dense::<E, E::Compute>(op, Losing::<Product>::new(none), weights)?,
            None => rows.share(),
        };
        let column = |of: &Owned<E::Compute, D>| Ok(of.reshape(op, &place)?.share());
        let [kept, spread] = self.shares(&cube);
        let strides = cube.row_major();
        let mut d = if self.of_scores {
            let logs = read(&back.y.1)?;
            let (rows, of_labels) = (column(&rows)?, column(&of_labels)?);
            if self.smoothing == 0.0 {
                logs.map2_dense::<E::Compute, E::Compute>(op, Losing::<ExpTimes>::new(none), &of_labels)?.into_parts().0
            } else {
                let of_each = self.all_weights(&cube, g, weight)?;
                let of_all = of_each.reduce(reduce::Sum, 0b10, true)?;
                let of_all = rows.map2_dense::<E::Sum, E::Compute>(op, Losing::<Product>::new(none), &of_all)?;
                let shares = Losing::<Blend>::new([kept, spread]);
                let of_row = of_labels.map2_dense::<E::Compute, E::Compute>(op, shares, &of_all)?;
                let d = logs.map2_dense::<E::Compute, E::Compute>(op, Losing::<ExpTimes>::new(none), &of_row)?;
                let of_each = rows.map2_dense::<E, E::Compute>(op, Losing::<Product>::new(none), &of_each)?;
                d.map2_dense::<E::Compute, E::Compute>(op, Losing::<Blend>::new([1.0, -spread]), &of_each)?
                    .into_parts()
                    .0
            }
        } else {
            D::zeroed::<E::Compute>(Some(g.storage()), cube.iter().product())?
        };
        let subtracting = AddingScaled(<E::Compute as Castable>::from_f64(-kept));
        let (index, of_labels) = (index.reshape(op, &place)?, of_labels.reshape(op, &place)?);
        let out = ViewMut::new(&mut d, 0, &cube, &strides);
        D::scatter_with(self.indexing(), subtracting, index.view(), of_labels.view(), out)?;
        let d = Erased::<E::Compute, D>::fresh(d, cube, strides);
        let d = if const { E::DTYPE as u8 == <E::Compute as Element>::DTYPE as u8 } {
            d.retyped()
        } else {
            d.map1_dense(op, Casting)?
        };
        let d = match of_logs {
            Some(of_logs) => d.map2_dense::<E, E>(op, Losing::<Blend>::new([1.0; 2]), &of_logs)?,
            None => d,
        };
        Ok((Some(d), None, None))
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
        ([self, target], [weight]) = self.with_labels("cross_entropy", target, weight)?,
        recorded = Some(OfLabels::recorded)
    )]
    #[typed(<I, T, W, R, X: Device>(&self, labels: &Tensor<I, T, X>, weight: W, ignore_index: i64, label_smoothing: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::cross_entropy>,
            I: Dtype + IndexFor<ops::losses::cross_entropy>,
            S: Scores,
            T: Shape + LabelsOf<S>,
            W: PerChannel<E, S::Classes, D>,
            R: Reduction<S::Labels>,
            T: SameDevice<D, X>;
        recorded = if const { W::IS_GIVEN } { Some(OfLabels::recorded) } else { None })]
    #[example(let scores = tensor![[0.0, 0.0], [9.0, 9.0], [0.0, 1000.0]]; let labels = tensor![0, 1, 0]; scores.cross_entropy(&labels, (), -100, 0.0, Unreduced), scores.cross_entropy(&labels, None, -100, LossReduction::None, 0.0), tensor![2.0_f32.ln(), 2.0_f32.ln(), 1000.0])]
    #[example(let scores = tensor![[0.0, 0.0], [9.0, 9.0]]; let labels = tensor![0, 1]; let weight = tensor![3.0, 1.0]; scores.cross_entropy(&labels, &weight, 0, 0.0, Mean), scores.cross_entropy(&labels, Some(&weight), 0, LossReduction::Mean, 0.0), Tensor::scalar(2.0_f32.ln()))]
    pub(crate) fn cross_entropy(
        &self,
        target: &Erased<'_, i64, D>,
        weight: Option<&Erased<'_, E, D>>,
        ignore_index: i64,
        reduction: LossReduction,
        label_smoothing: f64,
        recorded: Option<RecordedLoss<E, D>>,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "cross_entropy";
        expect_smoothing(op, label_smoothing)?;
        let of_labels = OfLabels::new(op, ignore_index, reduction);
        self.labelled(OfLabels { smoothing: label_smoothing, of_scores: true, ..of_labels }, target, weight, recorded)
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
    #[any(([self, target], [weight]) = self.with_labels("nll_loss", target, weight)?, recorded = Some(OfLabels::recorded))]
    #[typed(<I, T, W, R, X: Device>(&self, labels: &Tensor<I, T, X>, weight: W, ignore_index: i64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::nll_loss>,
            I: Dtype + IndexFor<ops::losses::nll_loss>,
            S: Scores,
            T: Shape + LabelsOf<S>,
            W: PerChannel<E, S::Classes, D>,
            R: Reduction<S::Labels>,
            T: SameDevice<D, X>;
        recorded = if const { W::IS_GIVEN } { Some(OfLabels::recorded) } else { None })]
    #[example(let x = tensor![[-1.0, -2.0], [-3.0, -4.0]]; let labels = tensor![1, 0]; x.nll_loss(&labels, (), -100, Mean), x.nll_loss(&labels, None, -100, LossReduction::Mean), Tensor::scalar(2.5))]
    #[example(let x = tensor![[-1.0, -2.0], [-3.0, -4.0]]; let labels = tensor![1, 0]; let weight = tensor![1.0, 3.0]; x.nll_loss(&labels, &weight, -100, Mean), x.nll_loss(&labels, Some(&weight), -100, LossReduction::Mean), Tensor::scalar((2.0 * 3.0 + 3.0) / 4.0))]
    pub(crate) fn nll_loss(
        &self,
        target: &Erased<'_, i64, D>,
        weight: Option<&Erased<'_, E, D>>,
        ignore_index: i64,
        reduction: LossReduction,
        recorded: Option<RecordedLoss<E, D>>,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.labelled(OfLabels::new("nll_loss", ignore_index, reduction), target, weight, recorded)
    }

    /// A loss of scores as `(N, C, L)` and labels as `(N, L)`; with scores of `(C)` the label may be a list of one.
    fn labelled(
        &self,
        of_labels: OfLabels<E>,
        target: &Erased<'_, i64, D>,
        weight: Option<&Erased<'_, E, D>>,
        recorded: Option<RecordedLoss<E, D>>,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = of_labels.op;
        let [n, c, l] = as_scores(op, self.sizes())?;
        let one = self.rank() == 1 && target.sizes() == [1];
        expect_labels(op, self.sizes(), if one { &[] } else { target.sizes() }, weight.map(Erased::sizes))?;
        let (scores, labels) = (self.reshape(op, &[n, c, l])?, target.reshape(op, &[n, l])?);
        let of_labels = OfLabels { has_weights: weight.is_some(), ..of_labels };
        let recorded = recorded.filter(|_| weight.is_some_and(|weight| D::is_tracked(weight.storage())));
        // (Nothing is read of what stands for weights that are not there.)
        let weight = Erased::of(weight.unwrap_or(self).view());
        let reduction = of_labels.reduction;
        // Weights that depend on parameters have a gradient, too: then each operation is recorded.
        let loss = match recorded {
            Some(loss) => loss(&of_labels, &scores, &labels, &weight)?,
            None => D::primitive(&of_labels, (scores, labels, weight))?.0,
        };
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
