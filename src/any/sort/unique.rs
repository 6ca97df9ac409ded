//! `unique` and `unique_consecutive`, of elements and of slices along an axis. Uses `tensor::sort::unique`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::{Bound, Value};
use crate::any::view::views::axis;
use crate::any::{AnyTensor, cat};
use crate::axis;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result};
use castiron_macros::operations;

/// Distinct elements, which of them each element is, and how often each was there.
type Distinct = (AnyTensor, AnyTensor, AnyTensor);

/// The results that are asked for: one, or a list.
fn asked_for(args: &Bound<'_>, (values, inverse, counts): Distinct) -> Result<Value> {
    let mut results = vec![values];
    if args.read_or("return_inverse", || false)? {
        results.push(inverse);
    }
    if args.read_or("return_counts", || false)? {
        results.push(counts);
    }
    Ok(if results.len() == 1 { results.remove(0).into() } else { results.into() })
}

#[operations]
impl AnyTensor {
    /// The elements without repetition, in order, as a list; which of them each element is; and how often each was there
    /// (`torch.unique`).
    ///
    /// # Errors
    /// If there are no data or the dtype has no order.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (values, inverse, counts) = AnyTensor::from(tensor![3, 1, 3]).unique()?;
    /// assert_eq!(values.to_string(), "tensor([1, 3])");
    /// assert_eq!((inverse.to_string(), counts.to_string()), ("tensor([1, 0, 1])".into(), "tensor([1, 2])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn unique(&self) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let list = self.reshaped(&[self.numel() as i64])?;
        let (values, inverse, counts) = dispatch_dtype!("unique", self.dtype, E: Ordered => {
            let (values, inverse, counts) = list.typed_rank1::<E, Dynamic>()?.try_unique()?;
            Ok((AnyTensor::from(values), AnyTensor::from(inverse), AnyTensor::from(counts)))
        })?;
        Ok((values, inverse.reshaped(&self.signed_sizes())?, counts))
    }

    #[op(unique(input, sorted, return_inverse, return_counts, dim), dtypes = ordered, needs_elements)]
    fn unique_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        asked_for(args, args.read::<Option<i64>>("dim")?.map_or_else(|| x.unique(), |dim| x.unique_axis(dim))?)
    }

    /// The slices along an axis without repetition, in order; which of them each slice is; and how often each was there
    /// (`torch.unique(dim=…)`).
    ///
    /// # Errors
    /// If the axis is out of range, slices have no elements, there are no data or the dtype has no order.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (rows, _, counts) = AnyTensor::from(tensor![[3, 4], [1, 2], [3, 4]]).unique_axis(0)?;
    /// assert_eq!(rows.to_string(), "tensor([[1, 2],\n        [3, 4]])");
    /// assert_eq!(counts.to_string(), "tensor([1, 2])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn unique_axis(&self, dim: i64) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let at = self.sliced("unique", dim)?;
        let cube = self.as_three_axes(at)?;
        let (values, inverse, counts) = dispatch_dtype!("unique", self.dtype, E: Ordered => {
            let (values, inverse, counts) = cube.typed_rank3::<E, Dynamic>()?.try_unique_axis(axis![1])?;
            Ok((AnyTensor::from(values), AnyTensor::from(inverse), AnyTensor::from(counts)))
        })?;
        Ok((self.with_axis_restored(at, values)?, inverse, counts))
    }

    /// The elements without those that repeat the one before, as a list; which of them each element is; and how often each was
    /// there in a row (`torch.unique_consecutive`).
    ///
    /// # Errors
    /// If there are no data or the dtype has no order.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (values, _, counts) = AnyTensor::from(tensor![1, 1, 2, 1]).unique_consecutive()?;
    /// assert_eq!((values.to_string(), counts.to_string()), ("tensor([1, 2, 1])".into(), "tensor([2, 1, 1])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn unique_consecutive(&self) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let (values, inverse, counts) = self.reshaped(&[self.numel() as i64])?.runs(0)?;
        Ok((values, inverse.reshaped(&self.signed_sizes())?, counts))
    }

    #[op(unique_consecutive(input, return_inverse, return_counts, dim), dtypes = ordered, needs_elements)]
    fn unique_consecutive_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, dim) = (args.tensor("input")?, args.read::<Option<i64>>("dim")?);
        asked_for(args, dim.map_or_else(|| x.unique_consecutive(), |dim| x.unique_consecutive_axis(dim))?)
    }

    /// The same of slices along an axis (`torch.unique_consecutive(dim=…)`).
    ///
    /// # Errors
    /// As [`unique_axis`](Self::unique_axis).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (columns, _, counts) = AnyTensor::from(tensor![[1, 1, 2], [3, 3, 4]]).unique_consecutive_axis(1)?;
    /// assert_eq!(columns.to_string(), "tensor([[1, 2],\n        [3, 4]])");
    /// assert_eq!(counts.to_string(), "tensor([2, 1])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn unique_consecutive_axis(&self, dim: i64) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "unique_consecutive";
        let at = self.sliced(op, dim)?;
        if (0..self.rank()).any(|axis| axis != at && self.sizes[axis] == 0) {
            let reason = format!("slices of {:?} along axis {at} have no elements to compare", self.shape());
            return Err(Error::InvalidArgument { op, reason });
        }
        self.runs(at)
    }

    /// An axis that there is.
    fn sliced(&self, op: &'static str, dim: i64) -> Result<usize> {
        if self.rank() == 0 {
            return Err(Error::InvalidArgument { op, reason: "a zero-dim tensor has no slices".to_owned() });
        }
        axis(op, dim, self.rank())
    }

    /// Slices along an axis without those that equal the one before.
    fn runs(&self, at: usize) -> Result<Distinct> {
        let op = "unique_consecutive";
        if !self.has_data() {
            return Err(Error::NoData { op });
        }
        dispatch_dtype!(op, self.dtype, E: Ordered => {
            let _: Option<E> = None;
            Ok(())
        })?;
        let (dim, len) = (at as i64, self.sizes[at]);
        let rest = len.saturating_sub(1);
        let differ = self.narrow(dim, (len - rest) as i64, rest)?.ne(&self.narrow(dim, 0, rest)?)?;
        let others: Vec<i64> = (0..self.rank() as i64).filter(|&axis| axis != dim).collect();
        let differ = if others.is_empty() { differ } else { differ.any(Some(&others), false)? };
        if len > 0 {
            return self.runs_where(at, &differ);
        }
        let none = || self.zeros_like_device(&[0], DType::I64);
        Ok((self.copy()?, none()?, none()?))
    }

    /// The slices along an axis without those that equal the one before, by whether each differs from it: the slices, which of them each
    /// one is, and how many were equal.
    pub(crate) fn runs_where(&self, at: usize, differ: &AnyTensor) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let (dim, len) = (at as i64, self.sizes[at]);
        let mut first = self.zeros_like_device(&[1], DType::Bool)?;
        first.fill_(true)?;
        let starts = cat(&[first, differ.clone()], 0)?;
        let inverse = starts.cumsum(0, Some(DType::I64))?.sub(1)?;
        let starts = starts.nonzero()?.reshape(&[-1])?;
        let mut end = self.zeros_like_device(&[1], DType::I64)?;
        end.fill_(len)?;
        let ends = cat(&[starts.narrow(0, 1, starts.numel() - 1)?, end], 0)?;
        Ok((self.index_select(dim, &starts)?, inverse, ends.sub(&starts)?))
    }
}
