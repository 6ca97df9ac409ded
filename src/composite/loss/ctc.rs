//! `ctc_loss`: the probability of a sequence of labels, where a label may last any number of steps, with blanks between.
//!
//! Source: `aten/src/ATen/native/LossCTC.cpp`, after Graves et al., "Connectionist Temporal Classification" (2006). Computed on the
//! host, in `f64`.

use super::reduction::expect_common;
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled, invalid, room};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::choosing::WideFloatFor;
use crate::ops::losses::LossReduction;
use crate::shape::{Dim, HasAxis, HasRank, SameSizeFor};
use crate::tensor::{Reduction, SameDevice, Tensor};
use castiron_macros::composites;

const OP: &str = "ctc_loss";

/// `log(exp(a) + exp(b))`
fn added(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    if most == f64::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}

/// `-log` of the probability of labels; log-probabilities of `(T, C)` are a function of step and class.
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
        // All of `alpha` is overwritten below.
        core::mem::swap(&mut before, &mut alpha);
        for state in 0..states {
            let mut sum = before[state];
            if state > 0 {
                sum = added(sum, before[state - 1]);
            }
            // The blank between different labels may be skipped.
            if state > 1 && at(state) != blank && at(state) != at(state - 2) {
                sum = added(sum, before[state - 2]);
            }
            alpha[state] = sum + log(step, at(state));
        }
    }
    let last = alpha[states - 1];
    Ok(-if states > 1 { added(last, alpha[states - 2]) } else { last })
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The connectionist temporal classification loss of log-probabilities of classes at each step and label sequences; `blank` is the
    /// class for no label: `-log` of the probability that the steps, without repeated classes and blanks, are the labels. The mean is that
    /// of the losses divided by the numbers of labels. With `zero_infinity` sequences that have too few steps count as 0. In PyTorch
    /// `blank` is 0 and `zero_infinity` false if not given.
    ///
    /// `self` is `(T, N, C)`: steps, sequences, classes. The labels of sequence `i`, which are `i64`, are the first `target_lengths[i]` of
    /// row `i`. An `AnyTensor` may also be `(T, C)`, and labels may be concatenated in a list. Computed on the host, in `f64`.
    ///
    /// # Errors
    /// If a label or `blank` is out of range or lengths do not match.
    #[op(nn.functional.ctc_loss, dtypes = "float32 and float64", over = [f32, f64])]
    #[any(
        ([self, targets], blank) = self.with_sequences("ctc_loss", targets, blank)?,
        blank: i64 = blank
    )]
    #[typed(<N, M: Dim, L, R: Reduction<(N,)>, X: Device>(&self, labels: &Tensor<i64, (M, L), X>, input_lengths: &[i64], target_lengths: &[i64], blank: usize, zero_infinity: bool, reduction: R) -> Tensor<E, R::Shape, D>
        where
            S: HasRank<3, ops::losses::ctc_loss> + HasAxis<1, Dim = N>,
            E: WideFloatFor<ops::losses::ctc_loss>,
            N: Dim + SameSizeFor<M, ops::losses::ctc_loss>,
            L: Dim + SameDevice<D, X>;
        targets = &Erased::of(L::here(labels).elements()))]
    #[example(let logs = tensor![[[0.0, -1.0]]]; let labels = tensor![[1]]; logs.ctc_loss(&labels, &[1], &[1], 0, false, Unreduced), logs.ctc_loss(&labels, &[1], &[1], 0, LossReduction::None, false), tensor![1.0])]
    pub(crate) fn ctc_loss(
        &self,
        targets: &Erased<'_, i64, D>,
        input_lengths: &[i64],
        target_lengths: &[i64],
        blank: usize,
        reduction: LossReduction,
        zero_infinity: bool,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        expect_common(OP, reduction)?;
        let (t, n, c) = match *self.sizes() {
            [t, c] => (t, 1, c),
            [t, n, c] => (t, n, c),
            _ => return invalid(OP, format!("two or three axes are wanted, got {}", self.rank())),
        };
        let row = (targets.rank() > 1).then(|| targets.sizes()[targets.rank() - 1]);
        if row.is_some() && targets.sizes()[0] != n {
            return Err(Error::Shape { op: OP, expected: format!("[{n}, _]"), found: targets.sizes().into() });
        }
        let has_data = D::has_data(self.storage()) || D::has_data(targets.storage());
        let list = if has_data { Some(D::download(targets.view())?) } else { None };
        let labels = list.as_deref();
        if blank >= c {
            return invalid(OP, format!("`blank` must be one of {c} classes, got {blank}"));
        }
        if input_lengths.len() != n || target_lengths.len() != n {
            let (inputs, targets) = (input_lengths.len(), target_lengths.len());
            let reason = format!("{n} sequences have {n} lengths, got {inputs} of inputs and {targets} of targets");
            return invalid(OP, reason);
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
        let losses = on_host::<D, _, Vec<f64>>(OP, self.view(), |elements| {
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
        if n == 1 && (reduction != LossReduction::None || self.rank() == 2) {
            return Owned::<f64, D>::dense(losses, Dims::known(&[])).narrowed(OP);
        }
        Owned::<f64, D>::list(losses, n).reduced(OP, reduction)
    }
}
