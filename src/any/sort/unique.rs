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

/// Distinct elements, and what was asked for of the other two.
type Asked = (AnyTensor, Option<AnyTensor>, Option<AnyTensor>);

/// Whether it is asked which of them each element is, and how often each was there.
fn wanted(args: &Bound<'_>) -> Result<[bool; 2]> {
    Ok([args.read_or("return_inverse", || false)?, args.read_or("return_counts", || false)?])
}

/// The results that are asked for: one, or a list.
fn asked_for((values, inverse, counts): Asked) -> Value {
    let mut results = vec![values];
    results.extend(inverse);
    results.extend(counts);
    if results.len() == 1 { results.remove(0).into() } else { results.into() }
}

/// What is wanted of the results.
fn chosen((values, inverse, counts): Distinct, wanted: [bool; 2]) -> Asked {
    (values, wanted[0].then_some(inverse), wanted[1].then_some(counts))
}

/// All of the results, which were wanted.
fn all(op: &'static str, (values, inverse, counts): Asked) -> Result<Distinct> {
    let [Some(inverse), Some(counts)] = [inverse, counts] else { return Err(Error::NoData { op }) };
    Ok((values, inverse, counts))
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
        all("unique", self.unique_wanted([true; 2])?)
    }

    fn unique_wanted(&self, wanted: [bool; 2]) -> Result<Asked> {
        let list = self.reshaped(&[self.numel() as i64])?;
        let (values, inverse, counts) = dispatch_dtype!("unique", self.dtype, E: Ordered => {
            let (values, inverse, counts) = list.typed_rank1::<E, Dynamic>()?.unique_wanted(wanted)?;
            Ok((AnyTensor::from(values), inverse.map(AnyTensor::from), counts.map(AnyTensor::from)))
        })?;
        let inverse = inverse.map(|inverse| inverse.reshaped(&self.signed_sizes())).transpose()?;
        Ok((values, inverse, counts))
    }

    #[op(unique(input, sorted, return_inverse, return_counts, dim), dtypes = ordered, needs_elements)]
    fn unique_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let wanted = wanted(args)?;
        Ok(asked_for(match args.read::<Option<i64>>("dim")? {
            None => x.unique_wanted(wanted)?,
            Some(dim) => chosen(x.unique_axis(dim)?, wanted),
        }))
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
        all("unique_consecutive", self.consecutive_wanted([true; 2])?)
    }

    fn consecutive_wanted(&self, wanted: [bool; 2]) -> Result<Asked> {
        let (values, inverse, counts) = self.reshaped(&[self.numel() as i64])?.runs(0, wanted)?;
        let inverse = inverse.map(|inverse| inverse.reshaped(&self.signed_sizes())).transpose()?;
        Ok((values, inverse, counts))
    }

    #[op(unique_consecutive(input, return_inverse, return_counts, dim), dtypes = ordered, needs_elements)]
    fn unique_consecutive_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, wanted) = (args.tensor("input")?, wanted(args)?);
        Ok(asked_for(match args.read::<Option<i64>>("dim")? {
            None => x.consecutive_wanted(wanted)?,
            Some(dim) => x.consecutive_along(dim, wanted)?,
        }))
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
        all("unique_consecutive", self.consecutive_along(dim, [true; 2])?)
    }

    fn consecutive_along(&self, dim: i64, wanted: [bool; 2]) -> Result<Asked> {
        let op = "unique_consecutive";
        let at = self.sliced(op, dim)?;
        if (0..self.rank()).any(|axis| axis != at && self.sizes[axis] == 0) {
            let reason = format!("slices of {:?} along axis {at} have no elements to compare", self.shape());
            return Err(Error::InvalidArgument { op, reason });
        }
        self.runs(at, wanted)
    }

    /// An axis that there is.
    fn sliced(&self, op: &'static str, dim: i64) -> Result<usize> {
        if self.rank() == 0 {
            return Err(Error::InvalidArgument { op, reason: "a zero-dim tensor has no slices".to_owned() });
        }
        axis(op, dim, self.rank())
    }

    /// Slices along an axis without those that equal the one before.
    fn runs(&self, at: usize, wanted: [bool; 2]) -> Result<Asked> {
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
            return self.runs_where(at, &differ, wanted);
        }
        let none = || self.zeros_like_device(&[0], DType::I64);
        Ok(chosen((self.copy()?, none()?, none()?), wanted))
    }

    /// The slices along an axis without those that equal the one before, by whether each differs from it: the slices, and if they are
    /// wanted which of them each one is, and how many were equal.
    fn runs_where(&self, at: usize, differ: &AnyTensor, wanted: [bool; 2]) -> Result<Asked> {
        let (dim, len) = (at as i64, self.sizes[at]);
        let mut first = self.zeros_like_device(&[1], DType::Bool)?;
        first.fill_(true)?;
        let starts = cat(&[first, differ.clone()], 0)?;
        let inverse = wanted[0].then(|| starts.cumsum(0, Some(DType::I64))?.sub(1)).transpose()?;
        if self.rank() == 1 && !wanted[1] {
            return Ok((self.masked_select(&starts)?, inverse, None));
        }
        let starts = starts.nonzero()?.reshape(&[-1])?;
        let counts = || -> Result<AnyTensor> {
            let mut end = self.zeros_like_device(&[1], DType::I64)?;
            end.fill_(len)?;
            let ends = cat(&[starts.narrow(0, 1, starts.numel() - 1)?, end], 0)?;
            ends.sub(&starts)
        };
        let counts = wanted[1].then(counts).transpose()?;
        Ok((self.index_select(dim, &starts)?, inverse, counts))
    }
}
