//! `ctc_loss`: the probability of a sequence of labels, where a label may last any number of steps, with blanks between.
//!
//! Source: `aten/src/ATen/native/LossCTC.cpp`, after Graves et al., "Connectionist Temporal Classification" (2006). Computed on the
//! host, in `f64`.

use super::reduction::expect_common;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
#[cfg(feature = "grad")]
use crate::dtype::Compute;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid, listed, room};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::choosing::WideFloatFor;
use crate::ops::losses::LossReduction;
use crate::shape::{Dim, HasAxis, HasRank, SameSizeFor};
use crate::tensor::{Reduction, SameDevice, Tensor};
use castiron_macros::composites;
use core::marker::PhantomData;

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
        let targets = collected(targets.into_iter().map(|own| listed(own.iter().copied())))?;
        let (input_lengths, takes_mean) = (listed(input_lengths.iter().copied())?, reduction == LossReduction::Mean);
        let summing = Sequences::<E> {
            sizes: [t, n, c],
            targets,
            input_lengths,
            blank,
            takes_mean,
            zero_infinity,
            dtype: PhantomData,
        };
        let (losses, ..) = D::primitive(&summing, (Erased::of(self.view()),))?.0.into_parts();
        if n == 1 && (reduction != LossReduction::None || self.rank() == 2) {
            return Owned::<f64, D>::dense(losses, Dims::known(&[])).narrowed(OP);
        }
        Owned::<f64, D>::list(losses, n).reduced(OP, reduction)
    }
}

/// The losses of sequences, each divided by the number of its labels if `takes_mean`.
#[derive(Clone)]
struct Sequences<E> {
    /// Steps, sequences, classes.
    sizes: [usize; 3],
    targets: Vec<Vec<i64>>,
    input_lengths: Vec<i64>,
    blank: usize,
    takes_mean: bool,
    zero_infinity: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Sequences<E> {
    type Operands = (E,);
    type Results = (f64,);
    fn op(&self) -> &'static str {
        OP
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (f64,), D>> {
        let [_, n, c] = self.sizes;
        let losses = on_host::<D, _, Vec<f64>>(OP, x.view(), |elements| {
            let mut losses = filled(0.0, n)?;
            for (at, loss) in losses.iter_mut().enumerate() {
                let log = |step: usize, class: usize| elements[(step * n + at) * c + class].cast::<f64>();
                *loss = sequence(log, self.input_lengths[at] as usize, &self.targets[at], self.blank)?;
                if self.zero_infinity && *loss == f64::INFINITY {
                    *loss = 0.0;
                }
                if self.takes_mean {
                    *loss /= self.targets[at].len().max(1) as f64;
                }
            }
            Ok(losses)
        })?;
        Ok((Erased::list(losses, n),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 0];
    /// `exp(x) - exp(paths + loss - x)`, where `paths` is the logarithm of the probability of all paths through a class at a step. As in
    /// PyTorch, probabilities are taken to be normalised: it is the gradient of what `log_softmax` is given. Computed on the host.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = &back.g else { return Ok((None,)) };
        let (x, [_, n, c]) = (read(&back.x.0)?, self.sizes);
        let gradients = on_host::<D, _, Vec<E>>(OP, (x.view(), g.view()), |(elements, g): (Vec<E>, Vec<f64>)| {
            let mut gradients = filled(E::default(), elements.len())?;
            for (at, labels) in self.targets.iter().enumerate() {
                let log = |step: usize, class: usize| elements[(step * n + at) * c + class].cast::<f64>();
                let steps = self.input_lengths[at] as usize;
                let factor = if self.takes_mean { g[at] / labels.len().max(1) as f64 } else { g[at] };
                let (paths, loss) = paths(log, [steps, c], labels, self.blank)?;
                if self.zero_infinity && loss == f64::INFINITY {
                    continue;
                }
                for (step, class) in (0..steps).flat_map(|step| (0..c).map(move |class| (step, class))) {
                    let x = log(step, class);
                    let slope = x.exp() - (paths[step * c + class] + loss - x).exp();
                    gradients[(step * n + at) * c + class] = E::from_compute(Compute::number(slope * factor));
                }
            }
            Ok(gradients)
        })?;
        Ok((Some(Erased::dense(gradients, back.sizes[0])),))
    }
}

/// For each step and class the logarithm of the probability of all paths through it, the class counted twice, and the loss.
#[cfg(feature = "grad")]
fn paths(
    log: impl Fn(usize, usize) -> f64,
    [steps, classes]: [usize; 2],
    labels: &[i64],
    blank: usize,
) -> Result<(Vec<f64>, f64)> {
    let at = |state: usize| if state.is_multiple_of(2) { blank } else { labels[state / 2] as usize };
    let states = 2 * labels.len() + 1;
    let len = steps.saturating_mul(states);
    let (mut alpha, mut beta) = (filled(f64::NEG_INFINITY, len)?, filled(f64::NEG_INFINITY, len)?);
    let mut paths = filled(f64::NEG_INFINITY, steps.saturating_mul(classes))?;
    // The blank between different labels may be skipped.
    let skips = |from: usize, to: usize| at(to) != blank && at(from) != at(to);
    for step in 0..steps {
        for state in 0..states {
            let sum = if step == 0 {
                if state < 2 { 0.0 } else { f64::NEG_INFINITY }
            } else {
                let before = &alpha[(step - 1) * states..step * states];
                let mut sum = before[state];
                if state > 0 {
                    sum = added(sum, before[state - 1]);
                }
                if state > 1 && skips(state - 2, state) {
                    sum = added(sum, before[state - 2]);
                }
                sum
            };
            alpha[step * states + state] = sum + log(step, at(state));
        }
    }
    for step in (0..steps).rev() {
        for state in 0..states {
            let sum = if step + 1 == steps {
                if state + 2 >= states { 0.0 } else { f64::NEG_INFINITY }
            } else {
                let after = &beta[(step + 1) * states..(step + 2) * states];
                let mut sum = after[state];
                if state + 1 < states {
                    sum = added(sum, after[state + 1]);
                }
                if state + 2 < states && skips(state, state + 2) {
                    sum = added(sum, after[state + 2]);
                }
                sum
            };
            let own = step * states + state;
            beta[own] = sum + log(step, at(state));
            let path = &mut paths[step * classes + at(state)];
            *path = added(*path, alpha[own] + beta[own]);
        }
    }
    let last = |back: usize| if steps > 0 && back <= states { alpha[len - back] } else { f64::NEG_INFINITY };
    let loss = -added(last(1), if states > 1 { last(2) } else { f64::NEG_INFINITY });
    Ok((paths, loss))
}
