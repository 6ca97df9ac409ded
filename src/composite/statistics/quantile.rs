//! The implementation of `quantile` and `nanquantile`, for one probability or a list of them.
//!
//! As in PyTorch, lanes are sorted, and the rank of the quantile is computed in the dtype itself.
//! Source: `aten/src/ATen/native/Sorting.cpp`, `quantile_compute`.

use super::rank::{Above, Below, Fraction, Highest, Rank};
use crate::composite::erased::left_over;
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Castable, Dtype};
use crate::error::{Error, Result, invalid, listed};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::arguments::{Indexing, Order, Sought};
use crate::ops::kernel::Combining;
use crate::ops::pointwise::{Lerping, LerpingBy};
use crate::ops::reduce::CountNumbers;
use crate::tensor::{Interpolation, checked_numel, first_of};
use core::marker::PhantomData;

/// The options of quantiles.
#[derive(Clone, Copy)]
pub(crate) struct Quantiles {
    pub(crate) op: &'static str,
    pub(crate) how: Interpolation,
    pub(crate) ignores_nan: bool,
}

impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The quantiles of the elements along an axis, or of all, for a probability `q`, or for a list of them along a new first axis.
    pub(crate) fn quantiles(
        &self,
        found: Quantiles,
        q: &Erased<'_, f64, D>,
        dim: Option<Axis>,
        keepdim: bool,
    ) -> Result<Owned<E, D>> {
        let (op, kept) = (found.op, left_over(self.sizes(), dim.map_or(u32::MAX, |dim| 1 << dim.0), keepdim));
        let (x, at) = match dim {
            None => (self.reshape(op, &[self.numel()])?, 0),
            Some(Axis(at)) => (self.lifted(op)?, at),
        };
        let lanes = x.quantiles_of_lanes(found, q, at)?;
        if q.rank() == 0 {
            return Ok(Erased::dense(lanes.into_parts().0, kept));
        }
        // The axis of quantiles goes to the front.
        let order = listed([at].into_iter().chain((0..lanes.rank()).filter(|&axis| axis != at)))?;
        let sizes = Dims::new(op, &[q.sizes(), &kept].concat())?;
        Ok(lanes.permute(op, &order)?.reshape(op, &sizes)?.share())
    }

    /// The quantiles of each lane for a list of probabilities, in place of the axis.
    fn quantiles_of_lanes(&self, found: Quantiles, q: &Erased<'_, f64, D>, axis: usize) -> Result<Owned<E, D>> {
        let Quantiles { op, how, ignores_nan } = found;
        if D::has(q.view(), Sought::NoShare)? {
            let q = first_of::<f64, D>(q.view(), Sought::NoShare)?;
            return invalid(op, format!("q goes from 0 to 1, got {q}"));
        }
        if checked_numel::<E>(op, self.sizes())? == 0 {
            return Err(Error::EmptyReduction { op, sizes: self.sizes().into() });
        }
        let [sorted, _] = D::order(Order::Sort { descending: false }, self.view(), axis)?;
        let sorted = Owned::<E, D>::dense(sorted, self.dims());
        let numbers = sorted.reduce(CountNumbers, 1 << axis, true)?;
        let mut sizes = self.dims();
        sizes[axis] = q.sizes().first().copied().unwrap_or(1);
        checked_numel::<E>(op, &sizes)?;
        let rank = Rank::<E> { len: self.sizes()[axis], ignores_nan, how, dtype: PhantomData };
        // The count of a lane is broadcast to all its quantiles, a probability to all lanes.
        let numbers = numbers.expand(op, &sizes)?;
        let q = q.viewed(op, sizes.len(), |own, view| {
            view.sizes.copy_from_slice(&sizes);
            view.strides.fill(0);
            view.strides[axis] = own.strides.first().copied().unwrap_or(0);
            Ok(own.offset)
        })?;
        let indexing = Indexing { op, axis, wraps: false };
        let gathered = |places: Owned<i64, D>| {
            Ok::<_, Error>(Owned::<E, D>::dense(D::gather(indexing, sorted.view(), places.view())?, sizes))
        };
        let low = gathered(numbers.map2_dense::<f64, i64>(op, Below(rank), &q)?)?;
        if !matches!(how, Interpolation::Linear | Interpolation::Midpoint) {
            return Ok(low);
        }
        let high = gathered(numbers.map2_dense::<f64, i64>(op, Above(rank), &q)?)?;
        let steps = sizes.row_major();
        let between = match how {
            Interpolation::Midpoint => {
                D::map2::<E, E, E>(LerpingBy(Castable::from_f64(0.5)), low.view(), high.view(), &steps)?
            }
            // How far the rank is above the element below depends on `q`, and has a gradient.
            _ => {
                let highest = numbers.map1_dense::<E>(op, Highest(rank))?;
                let ranks = highest.map2_dense::<E, E>(op, Combining::<ops::mul, E>::new(), &q.to::<E>(op)?)?;
                let weight = ranks.map1_dense::<E>(op, Fraction)?;
                D::map3::<E, E, E, E>(Lerping, low.view(), high.view(), weight.view(), &steps)?
            }
        };
        Ok(Erased::dense(between, sizes))
    }
}
