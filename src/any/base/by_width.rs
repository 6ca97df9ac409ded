//! Gather, scatter, masking and copies. These only move elements, so the loops run over a type of the same width: one copy of each
//! loop serves several dtypes.

use crate::any::base::operand::{broadcast_to, result_strides};
use crate::any::view::views::axis;
use crate::any::{AnyTensor, Dims, checked_numel, preserved};
use crate::device::erased::ErasedViewMut;
use crate::device::{Backend, Dynamic, DynamicBuffer};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::width::of_width;
pub(crate) use crate::error::invalid;
use crate::error::{Error, Result, collected, room};
use crate::layout::strides;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::Choosing;

/// Sizes as `i64`, which methods take.
pub(crate) fn signed(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&size| size as i64).collect()
}

/// Checks that two operands have one dtype.
pub(crate) fn same_dtype(op: &'static str, a: &AnyTensor, b: &AnyTensor) -> Result<()> {
    if a.dtype == b.dtype {
        return Ok(());
    }
    let reason = format!("beside {}; the operands hold one dtype", b.dtype);
    Err(Error::NotAdmitted { op, dtype: a.dtype, reason })
}

/// Operands moved to one device: those on the host join the others. (The caller has checked that they may.)
pub(crate) fn on_one_device<const N: usize>(operands: [&AnyTensor; N]) -> Result<[AnyTensor; N]> {
    let device = DynamicBuffer::common_device(operands.map(AnyTensor::storage));
    let mut moved = operands.map(AnyTensor::clone);
    for operand in moved.iter_mut().filter(|operand| operand.device() != device) {
        *operand = operand.to_device(device)?;
    }
    Ok(moved)
}

/// [`on_one_device`], expanded to `sizes`.
pub(crate) fn spread_together<const N: usize>(operands: [&AnyTensor; N], sizes: &[usize]) -> Result<[AnyTensor; N]> {
    let mut spread = on_one_device(operands)?;
    for operand in &mut spread {
        *operand = operand.expanded_to(sizes)?;
    }
    Ok(spread)
}

/// The sizes that all tensors broadcast to.
pub(crate) fn common_sizes<'a>(op: &'static str, tensors: impl IntoIterator<Item = &'a AnyTensor>) -> Result<Dims> {
    tensors.into_iter().try_fold(Dims::known(&[]), |sizes, tensor| broadcast_to(op, &sizes, &tensor.sizes))
}

/// Runs code whose result has this dtype and these sizes, and records it if the thread is profiled. (A call of `Backend` is recorded by
/// itself.)
#[inline]
pub(crate) fn recorded<T>(
    _op: &'static str,
    _operands: &[&AnyTensor],
    _result: (DType, &[usize]),
    run: impl FnOnce() -> T,
) -> T {
    #[cfg(feature = "profile")]
    let run = || {
        let about = || {
            let mut about = crate::profile::About::default();
            for x in _operands {
                about.operand(x.dtype(), x.shape(), x.stride(), false);
            }
            about.result(_result.0, _result.1);
            let beside = _operands.first().map(|x| x.storage());
            (Dynamic::clock(beside), Dynamic::called(beside), about)
        };
        crate::profile::span(_op, about, run, |_| 0)
    };
    run()
}

impl AnyTensor {
    /// A row-major tensor of these sizes on the device of `self`.
    pub(crate) fn allocated_like(
        &self,
        op: &'static str,
        sizes: &[usize],
        dtype: DType,
        make: impl FnOnce() -> Result<DynamicBuffer>,
    ) -> Result<AnyTensor> {
        let sizes = Dims::new(op, sizes)?;
        let numel = checked_numel(op, &sizes, dtype)?;
        let is_empty = numel == 0 || !self.has_data();
        let buffer = if is_empty { Dynamic::zeroed::<u8>(Some(self.storage()), 0)? } else { make()? };
        Ok(AnyTensor::fresh(buffer, dtype, &sizes, &strides::row_major(&sizes)))
    }

    /// Checks that memory can hold a tensor of these sizes before a broadcast operand is reduced to it: fails before reading a huge
    /// operand. (An operand that is not broadcast is in memory itself.)
    pub(crate) fn expect_memory(&self) -> Result<()> {
        let repeats = self.strides.iter().zip(&*self.sizes).any(|(&stride, &size)| stride == 0 && size > 1);
        if repeats && self.has_data() {
            room::<u8>(self.numel().saturating_mul(self.dtype.itemsize()))?;
        }
        Ok(())
    }

    /// A tensor of integers on the device of `self`.
    pub(crate) fn of_ints(values: Vec<i64>, sizes: &[usize]) -> Result<AnyTensor> {
        let sizes = Dims::new("tensor", sizes)?;
        debug_assert_eq!(sizes.iter().product::<usize>(), values.len());
        let buffer = Dynamic::build(None, || Ok(values))?;
        Ok(AnyTensor::fresh(buffer, DType::I64, &sizes, &strides::row_major(&sizes)))
    }

    /// The elements of an integer tensor as a list.
    pub(crate) fn to_ints(&self, op: &'static str) -> Result<Vec<i64>> {
        Dynamic::download(self.to(DType::I64)?.data_as::<i64>(op)?)
    }

    /// Zeros on the device of `self`.
    pub(crate) fn zeros_like_device(&self, sizes: &[usize], dtype: DType) -> Result<AnyTensor> {
        AnyTensor::zeros_on(sizes, dtype, self.device())
    }

    /// A scalar of the dtype as a zero-dim tensor on the device of `self`.
    pub(crate) fn scalar_on_device(&self, op: &'static str, value: ScalarValue, dtype: DType) -> Result<AnyTensor> {
        let scalar = AnyTensor::scalar_of(op, value, dtype)?;
        scalar.to_device(self.device())
    }

    /// With at least one axis: a zero-dim tensor counts as one axis of size 1.
    pub(crate) fn at_least_1d(&self) -> AnyTensor {
        if self.rank() == 0 { self.viewed(self.offset, &[1], &[1]) } else { self.clone() }
    }

    /// Expanded to sizes that this tensor's broadcast to.
    pub(crate) fn expanded_to(&self, sizes: &[usize]) -> Result<AnyTensor> {
        if *self.sizes == *sizes { Ok(self.clone()) } else { self.expand(&signed(sizes)) }
    }

    /// The index as `i64`; its dtype must be `i64`, or `i32` if `short`.
    pub(crate) fn as_index(&self, op: &'static str, short: bool) -> Result<AnyTensor> {
        match self.dtype {
            DType::I64 => Ok(self.clone()),
            DType::I32 if short => self.to(DType::I64),
            dtype => {
                let reason = if short { "indices are int64 or int32" } else { "indices are int64" };
                Err(Error::NotAdmitted { op, dtype, reason: reason.to_owned() })
            }
        }
    }

    /// The same bytes as another dtype of the same width.
    pub(crate) fn relabelled(&self, dtype: DType) -> AnyTensor {
        debug_assert_eq!(self.dtype.itemsize(), dtype.itemsize());
        AnyTensor { dtype, ..self.clone() }
    }

    /// Checks that there are at least this many axes.
    pub(crate) fn expect_rank(&self, op: &'static str, least: usize) -> Result<()> {
        if self.rank() >= least {
            return Ok(());
        }
        invalid(op, format!("a tensor with at least {least} axes is wanted, got one with {}", self.rank()))
    }

    /// The axes of `roll`, at least one.
    pub(crate) fn shifted_axes(&self, dims: &[i64]) -> Result<Vec<usize>> {
        let op = "roll";
        self.expect_rank(op, dims.len().min(1))?;
        collected(dims.iter().map(|&dim| axis(op, dim, self.rank())))
    }

    /// The elements at indices along an axis. Both tensors have the same rank, at least 1.
    pub(crate) fn gathered(&self, op: &'static str, axis: usize, index: &AnyTensor, wraps: bool) -> Result<AnyTensor> {
        let fits = |at: usize| at == axis || index.sizes[at] <= self.sizes[at];
        // PyTorch checks the sizes only if the index tensor is not empty.
        if !index.is_empty() && !(0..self.rank()).all(fits) {
            return invalid(
                op,
                format!(
                    "indices of shape {:?} must be no larger than the tensor of shape {:?}, but along axis {axis}",
                    index.shape(),
                    self.shape()
                ),
            );
        }
        if index.is_empty() {
            return self.none_of(&index.sizes);
        }
        self.allocated_like(op, &index.sizes, self.dtype, || {
            let indexing = Indexing { op, axis, wraps };
            of_width!(self.dtype.itemsize(), W => Dynamic::gather::<W>(indexing, self.data_as(op)?, index.data_as(op)?))
        })
    }

    /// An empty tensor with these sizes, one of them 0. It requires a gradient if this tensor does.
    pub(crate) fn none_of(&self, sizes: &[usize]) -> Result<AnyTensor> {
        self.at_least_1d().narrow(0, 0, 0)?.copy()?.reshaped(&signed(sizes))
    }

    /// Checks that the index tensor is no larger than the source, nor, except along `axis`, than the tensor.
    pub(crate) fn expect_writable(
        &self,
        op: &'static str,
        axis: usize,
        index: &AnyTensor,
        from: &AnyTensor,
    ) -> Result<()> {
        let fits = |at: usize| index.sizes[at] <= from.sizes[at] && (at == axis || index.sizes[at] <= self.sizes[at]);
        if index.is_empty() || (0..self.rank()).all(fits) {
            return Ok(());
        }
        invalid(
            op,
            format!(
                "indices of shape {:?} must be no larger than the source of shape {:?}, nor than the tensor of shape {:?}, but along axis {axis}",
                index.shape(),
                from.shape(),
                self.shape()
            ),
        )
    }

    /// A copy with elements written at indices along an axis. All tensors have the same rank, at least 1.
    pub(crate) fn scattered(
        &self,
        op: &'static str,
        axis: usize,
        index: &AnyTensor,
        from: &AnyTensor,
        wraps: bool,
    ) -> Result<AnyTensor> {
        self.expect_writable(op, axis, index, from)?;
        let mut out = self.copied(&strides::row_major(&self.sizes))?;
        if !index.is_empty() && self.has_data() {
            let indexing = Indexing { op, axis, wraps };
            of_width!(self.dtype.itemsize(), W => {
                Dynamic::scatter::<W>(indexing, index.data_as(op)?, from.data_as(op)?, out.data_as_mut(op)?)
            })?;
        }
        Ok(out)
    }

    /// The elements where a bool mask of the same sizes is true, and their number.
    pub(crate) fn masked_elements(&self, op: &'static str, mask: &AnyTensor) -> Result<AnyTensor> {
        let (buffer, count) =
            of_width!(self.dtype.itemsize(), W => Dynamic::compress::<W>(self.data_as(op)?, mask.data_as(op)?))?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &[count], &[1]))
    }

    /// Elements of one operand or the other by a bool mask, all broadcast; both operands have one dtype.
    pub(crate) fn select_by_mask(
        op: &'static str,
        mask: &AnyTensor,
        a: &AnyTensor,
        b: &AnyTensor,
    ) -> Result<AnyTensor> {
        let sizes = common_sizes(op, [mask, a, b])?;
        let [mask_spread, a_spread, b_spread] = spread_together([mask, a, b], &sizes)?;
        let strides = result_strides(&sizes, &[mask, a, b].map(|x| x.layout(a.dtype)));
        checked_numel(op, &sizes, a.dtype)?;
        let buffer = of_width!(a.dtype.itemsize(), W => {
            let (mask, a, b) = (mask_spread.elements_as()?, a_spread.elements_as()?, b_spread.elements_as()?);
            Dynamic::map3::<bool, W, W, W>(Choosing, mask, a, b, &strides)
        })?;
        Ok(AnyTensor::fresh(buffer, a.dtype, &sizes, &strides))
    }

    /// A copy whose view is overwritten with elements, which have the view's sizes and are converted.
    pub(crate) fn with_view_overwritten(
        &self,
        op: &'static str,
        view: impl FnOnce(&AnyTensor) -> Result<AnyTensor>,
        from: &AnyTensor,
    ) -> Result<AnyTensor> {
        crate::any::base::operand::same_device(op, self, from)?;
        self.copied(&preserved(&self.sizes, &self.strides))?.view_overwritten(op, view, from)
    }

    /// [`with_view_overwritten`](Self::with_view_overwritten) of a tensor with unique storage.
    pub(crate) fn view_overwritten(
        self,
        op: &'static str,
        view: impl FnOnce(&AnyTensor) -> Result<AnyTensor>,
        from: &AnyTensor,
    ) -> Result<AnyTensor> {
        let mut out = self;
        let (offset, sizes, to) = {
            let view = view(&out)?;
            (view.first(), view.sizes, view.strides)
        };
        if *from.sizes != *sizes {
            return Err(Error::Output { op, result: (&*from.sizes).into(), output: (&*sizes).into() });
        }
        let from = from.to(out.dtype)?;
        if out.has_data() {
            from.data(op)?;
        }
        // The offset and strides of the view inside the copy, which has unique storage.
        let place = ErasedViewMut { offset, sizes: &sizes, strides: &to, ..out.erased_mut(op)? };
        from.erased()?.copy_into(place)?;
        Ok(out)
    }
}
