//! `ctc_loss`: how probable a sequence of labels is where each may last any number of steps, with blanks between.
//!
//! Source: `aten/src/ATen/native/LossCTC.cpp`, after Graves et al., "Connectionist Temporal Classification" (2006). Computed on the
//! host, in `f64`. Uses `loss::reduction`; used by `any`.

use super::reduction::{Reduction, narrowed, of_losses, result};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled, invalid, room};
use crate::ops;
use crate::ops::choosing::WideFloatFor;
use crate::ops::losses::LossReduction;
use crate::shape::{Dim, HasAxis, HasRank, SameSizeFor, Shape};
use crate::storage::View;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

const OP: &str = "ctc_loss";

/// The labels of each sequence, one after another or each in a row of its own, and how many there are.
pub(crate) struct Sequences<'a> {
    /// `None` where there are no data, and nothing is known but where labels would stand.
    pub(crate) labels: Option<&'a [i64]>,
    /// How long a row of the labels is; `None` where they follow one another.
    pub(crate) row: Option<usize>,
    pub(crate) input_lengths: &'a [i64],
    pub(crate) target_lengths: &'a [i64],
}

/// `log(exp(a) + exp(b))`
fn added(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    if most == f64::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}

/// `-log` of the probability of labels, from logarithms of probabilities of `(T, C)` given as a function of both.
fn sequence(log: impl Fn(usize, usize) -> f64, steps: usize, labels: &[i64], blank: usize) -> Result<f64> {
    // Label, blank, label, …, with a blank at both ends.
    let at = |state: usize| if state.is_multiple_of(2) { blank } else { labels[state / 2] as usize };
    let states = 2 * labels.len() + 1;
    if steps == 0 {
        return Ok(if labels.is_empty() { 0.0 } else { f64::INFINITY });
    }
    let mut alpha = filled(f64::NEG_INFINITY, states)?;
    alpha[0] = log(0, blank);
    if states > 1 {
        alpha[1] = log(0, at(1));
    }
    let mut before = filled(0.0, states)?;
    for step in 1..steps {
        // (All of `alpha` is written below.)
        core::mem::swap(&mut before, &mut alpha);
        for state in 0..states {
            let mut sum = before[state];
            if state > 0 {
                sum = added(sum, before[state - 1]);
            }
            // A blank may be left out between labels that differ.
            if state > 1 && at(state) != blank && at(state) != at(state - 2) {
                sum = added(sum, before[state - 2]);
            }
            alpha[state] = sum + log(step, at(state));
        }
    }
    let last = alpha[states - 1];
    Ok(-if states > 1 { added(last, alpha[states - 2]) } else { last })
}

/// The losses of sequences from logarithms of probabilities of `(T, N, C)`.
pub(crate) fn ctc<E: Dtype, D: Device>(
    logs: View<'_, D::Storage, E>,
    sequences: &Sequences<'_>,
    blank: usize,
    zero_infinity: bool,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let [t, n, c] = [logs.sizes[0], logs.sizes[1], logs.sizes[2]];
    let Sequences { labels, row, input_lengths, target_lengths } = *sequences;
    if blank >= c {
        return invalid(OP, format!("`blank` must be one of {c} classes, got {blank}"));
    }
    if input_lengths.len() != n || target_lengths.len() != n {
        let (inputs, targets) = (input_lengths.len(), target_lengths.len());
        return invalid(OP, format!("{n} sequences have {n} lengths, got {inputs} of inputs and {targets} of targets"));
    }
    let (mut targets, mut start) = (room(n)?, 0_usize);
    for (at, &length) in target_lengths.iter().enumerate() {
        let own = usize::try_from(length).ok().filter(|&length| row.is_none_or(|row| length <= row));
        let first = row.map_or(Some(start), |row| at.checked_mul(row));
        let place = first.zip(own).and_then(|(first, own)| Some((first, first.checked_add(own)?)));
        let Some((first, end)) = place.filter(|&(_, end)| labels.is_none_or(|labels| end <= labels.len())) else {
            return invalid(OP, format!("there are not {length} labels in sequence {at}"));
        };
        let own = labels.map_or(&[][..], |labels| &labels[first..end]);
        if let Some(&label) = own.iter().find(|&&label| label < 0 || label as usize >= c) {
            return Err(Error::IndexValue { op: OP, index: label, axis: 2, size: c });
        }
        targets.push(own);
        start = end;
    }
    if let Some(&length) = input_lengths.iter().find(|&&length| length < 0 || length as usize > t) {
        return invalid(OP, format!("an input has {t} steps, not {length}"));
    }
    let losses = D::build::<f64>(Some(logs.buffer), || {
        let elements = D::download(logs)?;
        let mut losses = filled(0.0, n)?;
        for (at, loss) in losses.iter_mut().enumerate() {
            let log = |step: usize, class: usize| elements[(step * n + at) * c + class].cast::<f64>();
            *loss = sequence(log, input_lengths[at] as usize, targets[at], blank)?;
            if zero_infinity && *loss == f64::INFINITY {
                *loss = 0.0;
            }
            if reduction == LossReduction::Mean {
                *loss /= targets[at].len().max(1) as f64;
            }
        }
        Ok(losses)
    })?;
    if n == 1 && reduction != LossReduction::None {
        return narrowed::<E, D>(losses);
    }
    of_losses::<E, D>(losses, &[n], reduction)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The loss of sequences of labels beside logarithms of probabilities of classes at each step, of which `blank` is none: `-log` of
    /// the probability that the steps, repeated classes and blanks left out, are the labels (connectionist temporal classification).
    /// The mean is that of the losses divided by the numbers of labels. With `zero_infinity` sequences that have too few steps count
    /// as 0.
    ///
    /// `self` is `(T, N, C)`: steps, sequences, classes. The labels of sequence `i` are the first `target_lengths[i]` of row `i`. Dtypes:
    /// `f32` and `f64`, `i64` labels. Computed on the host, in `f64`.
    ///
    /// PyTorch: `torch.nn.functional.ctc_loss`, where `blank` is 0 and `zero_infinity` false if not given.
    ///
    /// # Panics
    /// If a label or `blank` is out of range, lengths do not fit, or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Unreduced, tensor};
    /// // Two steps, one sequence, a blank and one class, all equally probable: three of four paths are "1".
    /// let logs = tensor![[[0.5, 0.5]], [[0.5, 0.5]]].log();
    /// let loss = logs.ctc_loss(&tensor![[1]], &[2], &[1], 0, false, Unreduced);
    /// assert!((loss.to_vec()[0] - (4.0_f32 / 3.0).ln()).abs() < 1e-6);
    /// ```
    #[fallible]
    pub fn ctc_loss<N, M: Dim, L, R: Reduction<(N,)>, X: Device>(
        &self,
        labels: &Tensor<i64, (M, L), X>,
        input_lengths: &[i64],
        target_lengths: &[i64],
        blank: usize,
        zero_infinity: bool,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        S: HasRank<3, ops::losses::ctc_loss> + HasAxis<1, Dim = N>,
        E: WideFloatFor<ops::losses::ctc_loss>,
        N: Dim + SameSizeFor<M, ops::losses::ctc_loss>,
        L: Dim + SameDevice<D, X>,
    {
        let labels = L::here(labels);
        let _ = reduction;
        let n = self.shape().as_ref()[1];
        let [count, row] = labels.shape();
        if count != n {
            return Err(Error::Shape { op: OP, expected: format!("[{n}, _]"), found: labels.shape()[..].into() });
        }
        let logs = self.elements();
        let list = if D::has_data(logs.buffer) { Some(D::download(labels.elements())?) } else { None };
        let sequences = Sequences { labels: list.as_deref(), row: Some(row), input_lengths, target_lengths };
        Ok(result(ctc::<E, D>(logs, &sequences, blank, zero_infinity, R::KIND)?, &[n], R::KIND))
    }
}
