//! The reduction of losses: their mean, their sum, or none.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Castable, DType, Element};
use crate::error::{Error, Result, invalid};
use crate::ops;
use crate::ops::kernel::{Casting, CombiningScalar, Map2};
use crate::ops::losses::LossReduction;
use crate::ops::reduce;

/// Checks that a target has the shape of the predictions.
pub(crate) fn expect_target(op: &'static str, sizes: &[usize], target: &[usize]) -> Result<()> {
    if sizes == target {
        return Ok(());
    }
    Err(Error::Shape { op, expected: format!("{sizes:?}, as the predictions have"), found: target.into() })
}

/// Checks that labels match scores: these have the axes of the labels and one of classes, as large as the weight.
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

/// Checks that a reduction is one that all losses have.
pub(crate) fn expect_common(op: &'static str, reduction: LossReduction) -> Result<()> {
    if reduction != LossReduction::BatchMean {
        return Ok(());
    }
    invalid(op, "reduction is none, mean or sum; batchmean is for kl_div".to_owned())
}

impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The losses by a kernel of two tensors that broadcast, reduced.
    pub(crate) fn losses<K, F: Element, O: Castable>(
        &self,
        op: &'static str,
        kernel: K,
        other: &Erased<'_, F, D>,
        reduction: LossReduction,
    ) -> Result<Owned<O, D>>
    where
        K: Map2<E, F, O> + Map2<E, F, f64>,
    {
        expect_common(op, reduction)?;
        match reduction {
            LossReduction::None => self.map2::<F, O>(op, kernel, other),
            _ => self.summed(op, kernel, other, reduction),
        }
    }

    /// [`losses`](Self::losses); unreduced ones are row-major.
    pub(crate) fn dense_losses<K, F: Element, O: Castable>(
        &self,
        op: &'static str,
        kernel: K,
        other: &Erased<'_, F, D>,
        reduction: LossReduction,
    ) -> Result<Owned<O, D>>
    where
        K: Map2<E, F, O> + Map2<E, F, f64>,
    {
        expect_common(op, reduction)?;
        match reduction {
            LossReduction::None => self.map2_dense::<F, O>(op, kernel, other),
            _ => self.summed(op, kernel, other, reduction),
        }
    }

    /// The sum or the mean of losses, summed in `f64`, without memory for the losses.
    pub(crate) fn summed<F: Element, O: Castable>(
        &self,
        op: &'static str,
        kernel: impl Map2<E, F, f64>,
        other: &Erased<'_, F, D>,
        reduction: LossReduction,
    ) -> Result<Owned<O, D>> {
        if reduction == LossReduction::Mean {
            return self.reduce_pairs(op, reduce::Mean, kernel, other, u32::MAX)?.narrowed(op);
        }
        let total = self.reduce_pairs(op, reduce::Sum, kernel, other, u32::MAX)?;
        if reduction == LossReduction::BatchMean {
            let count = self.broadcast(op, other)?.first().copied().unwrap_or(1);
            return total.divided(op, count)?.narrowed(op);
        }
        total.narrowed(op)
    }
}

impl<D: Device> Owned<f64, D> {
    /// The reduction of losses in `f64`.
    pub(crate) fn reduced<O: Castable>(self, op: &'static str, reduction: LossReduction) -> Result<Owned<O, D>> {
        expect_common(op, reduction)?;
        match reduction {
            LossReduction::None => self.narrowed(op),
            LossReduction::Mean => self.reduce(reduce::Mean, u32::MAX, false)?.narrowed(op),
            _ => self.reduce(reduce::Sum, u32::MAX, false)?.narrowed(op),
        }
    }

    /// Divided by a number.
    pub(crate) fn divided(&self, op: &'static str, count: usize) -> Result<Self> {
        self.map1::<f64>(op, CombiningScalar::<ops::div, f64>(count as f64))
    }

    /// Converted to the dtype of the losses.
    pub(crate) fn narrowed<O: Castable>(self, op: &'static str) -> Result<Owned<O, D>> {
        if O::DTYPE == DType::F64 { Ok(self.retyped()) } else { self.map1::<O>(op, Casting) }
    }
}
