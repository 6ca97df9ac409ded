//! What an order decides: sorting, medians and quantiles, elements without repetition, and searching.

use crate::any::AnyTensor;
use crate::any::base::as_typed::{Cube, List, on_device};
use crate::any::base::dispatch::among;
use crate::any::base::operand::{AnyOperand, promoted};
use crate::any::scan::cumulative::end_to_end;
use crate::any::view::views::axis;
use crate::axis;
use crate::device::Order;
use crate::dtype::DType;
use crate::dtype::scalar::{KindRank, ScalarValue};
use crate::error::{Error, Result, collected, filled, listed, room};
use crate::tensor::{Interpolation, admitted, median_of_all, quantiles, ranked};

/// Distinct elements, which of them each element is, and how often each was there.
type Distinct = (AnyTensor, AnyTensor, AnyTensor);

impl AnyTensor {
    /// What is chosen by rank along an axis, `[before, chosen, after]`, and where it is.
    fn ranked(&self, op: &'static str, order: Order, at: usize) -> Result<(AnyTensor, AnyTensor)> {
        admitted(op, order, self.shape(), at)?;
        let cube = self.around(at)?;
        on_device!(self, D => among!(op, self.dtype, E: Ordered => {
            let (values, places) = ranked::<E, Cube, Cube, D>(op, &cube.cube()?, order, 1)?;
            Ok((AnyTensor::from(values), AnyTensor::from(places)))
        }))
    }

    /// Several of them in place of the axis.
    fn several(&self, op: &'static str, order: Order, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        let at = axis(op, dim, self.rank())?;
        let (values, places) = self.ranked(op, order, at)?;
        Ok((self.back(at, values)?, self.back(at, places)?))
    }

    /// One of them, without the axis unless `keepdim`.
    fn single(&self, op: &'static str, order: Order, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        let at = axis(op, dim, self.rank())?;
        let (values, places) = self.ranked(op, order, at)?;
        Ok((self.without(at, keepdim, values)?, self.without(at, keepdim, places)?))
    }

    /// `bool` has an order, but is not ranked.
    fn expect_number(&self, op: &'static str) -> Result<()> {
        if self.dtype == DType::Bool { Err(crate::any::base::dispatch::refused(op, self.dtype)) } else { Ok(()) }
    }

    /// The elements along an axis in order, and where they were (`torch.sort`). Equal elements stay in their order; NaN is larger
    /// than every number.
    ///
    /// # Errors
    /// If the axis is out of range or the dtype has no order.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (values, places) = AnyTensor::from(tensor![3, 1, 2]).sort(-1, false)?;
    /// assert_eq!((values.to_string(), places.to_string()), ("tensor([1, 2, 3])".into(), "tensor([1, 2, 0])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn sort(&self, dim: i64, descending: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.several("sort", Order::Sort { descending }, dim)
    }

    /// Where the elements along an axis are in order (`torch.argsort`).
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    pub fn argsort(&self, dim: i64, descending: bool) -> Result<AnyTensor> {
        Ok(self.several("argsort", Order::Sort { descending }, dim)?.1)
    }

    /// The elements along the first axis in order (`torch.msort`).
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    pub fn msort(&self) -> Result<AnyTensor> {
        Ok(self.several("msort", Order::Sort { descending: false }, 0)?.0)
    }

    /// The `k` largest or smallest elements along an axis in order, and where they are (`torch.topk`).
    ///
    /// # Errors
    /// If the axis is out of range or has fewer elements, or the dtype is neither an integer nor a float.
    pub fn topk(&self, k: usize, dim: i64, largest: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.expect_number("topk")?;
        // A zero-dim tensor has one element, which PyTorch gives for `k` of 0 too.
        let k = if self.rank() == 0 && k == 0 { 1 } else { k };
        self.several("topk", Order::Top { k, largest }, dim)
    }

    /// The `k`-th smallest element along an axis, counted from 1, and where it is (`torch.kthvalue`).
    ///
    /// # Errors
    /// If the axis is out of range, `k` is 0 or larger than it, or the dtype is neither an integer nor a float.
    pub fn kthvalue(&self, k: usize, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.expect_number("kthvalue")?;
        self.single("kthvalue", Order::Kth { k: k.wrapping_sub(1) }, dim, keepdim)
    }

    /// The most frequent element along an axis, and where it is last (`torch.mode`).
    ///
    /// # Errors
    /// If the axis is out of range or empty, or the dtype has no order.
    pub fn mode(&self, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.single("mode", Order::Mode, dim, keepdim)
    }

    /// The element in the middle, the lower one of two (`torch.median`); NaN if there is one, or `ignores_nan` leaves it out
    /// (`torch.nanmedian`).
    ///
    /// # Errors
    /// If the dtype is neither an integer nor a float, or there are no integers.
    pub fn median(&self, ignores_nan: bool) -> Result<AnyTensor> {
        let op = if ignores_nan { "nanmedian" } else { "median" };
        if self.is_empty() && !self.is_meta() && !self.dtype.is_shell() {
            // NaN, as the dtype has it.
            return AnyTensor::scalar_of(op, crate::ScalarValue::Float(f64::NAN), DType::F64)?.to(self.dtype);
        }
        let list = self.shaped(&[self.numel() as i64])?;
        on_device!(self, D => among!(op, self.dtype, E: Real => {
            median_of_all::<E, List, D>(op, &list.typed()?, ignores_nan).map(AnyTensor::from)
        }))
    }

    /// The elements in the middle along an axis, and where they are: [`median`](Self::median) with `dim`.
    ///
    /// # Errors
    /// If the axis is out of range or empty, or the dtype is neither an integer nor a float.
    pub fn median_axis(&self, dim: i64, keepdim: bool, ignores_nan: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = if ignores_nan { "nanmedian" } else { "median" };
        self.expect_number(op)?;
        self.single(op, Order::Median { ignores_nan }, dim, keepdim)
    }

    /// The elements that shares `q` of those along an axis, or of all, are below (`torch.quantile`); `ignores_nan` leaves NaN out
    /// (`torch.nanquantile`). `q` is a scalar, or a list in the dtype of the tensor, along a new first axis.
    ///
    /// # Errors
    /// If a share is not between 0 and 1, the axis is out of range, there are no elements, or the dtype is neither `float32` nor
    /// `float64`.
    pub fn quantile(
        &self,
        q: impl Into<AnyOperand>,
        dim: Option<i64>,
        keepdim: bool,
        how: Interpolation,
        ignores_nan: bool,
    ) -> Result<AnyTensor> {
        let op = if ignores_nan { "nanquantile" } else { "quantile" };
        let invalid = |reason: String| Err(Error::InvalidArgument { op, reason });
        let (shares, is_list) = match q.into() {
            AnyOperand::Number(q) => (vec![q.real_part()], false),
            AnyOperand::Array(q) if q.dtype != self.dtype => {
                return invalid(format!("`q` must have the dtype of the tensor, {}, got {}", self.dtype, q.dtype));
            }
            AnyOperand::Array(q) if q.rank() > 1 => {
                return invalid(format!("`q` is a scalar or a list, got a tensor with {} axes", q.rank()));
            }
            // Without data there is nothing to compute with; the number counts.
            AnyOperand::Array(q) if q.is_meta() => (filled(0.0, q.numel())?, q.rank() == 1),
            AnyOperand::Array(q) => (listed(q.to_scalars()?.into_iter().map(ScalarValue::real_part))?, q.rank() == 1),
        };
        let mut sizes: Vec<i64> = self.sizes.iter().map(|&size| size as i64).collect();
        let (x, at) = match dim {
            Some(dim) => (self.clone(), axis(op, dim, self.rank())?),
            None => (self.shaped(&[self.numel() as i64])?, 0),
        };
        match dim {
            Some(_) if sizes.is_empty() => {}
            Some(_) if keepdim => sizes[at] = 1,
            Some(_) => drop(sizes.remove(at)),
            None if keepdim => sizes.fill(1),
            None => sizes.clear(),
        }
        let cube = x.around(at)?;
        let found = on_device!(self, D => among!(op, self.dtype, E: [f32, f64] => {
            let (storage, sizes) = quantiles::<E, D>(op, cube.cube::<E, D>()?.elements(), &shares, 1, how, ignores_nan)?;
            let sizes = [sizes[0], sizes[1], sizes[2]];
            Ok(AnyTensor::from(crate::Tensor::<E, Cube, D>::dense(storage, sizes)))
        }))?;
        if is_list {
            sizes.insert(0, shares.len() as i64);
        }
        found.movedim(&[1], &[0])?.shaped(&sizes)
    }

    /// The elements without repetition, in order, as a list; which of them each element is; and how often each was there
    /// (`torch.unique`).
    ///
    /// # Errors
    /// If there are no data or the dtype has no order.
    pub fn unique(&self) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let list = self.shaped(&[self.numel() as i64])?;
        let (values, inverse, counts) = on_device!(self, D => among!("unique", self.dtype, E: Ordered => {
            let (values, inverse, counts) = list.list::<E, D>()?.try_unique()?;
            Ok((AnyTensor::from(values), AnyTensor::from(inverse), AnyTensor::from(counts)))
        }))?;
        Ok((values, inverse.shaped(&self.signed_sizes())?, counts))
    }

    /// The slices along an axis without repetition, in order; which of them each slice is; and how often each was there
    /// (`torch.unique(dim=…)`).
    ///
    /// # Errors
    /// If the axis is out of range, slices have no elements, there are no data or the dtype has no order.
    pub fn unique_axis(&self, dim: i64) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let at = self.sliced("unique", dim)?;
        let cube = self.around(at)?;
        let (values, inverse, counts) = on_device!(self, D => among!("unique", self.dtype, E: Ordered => {
            let (values, inverse, counts) = cube.cube::<E, D>()?.try_unique_axis(axis![1])?;
            Ok((AnyTensor::from(values), AnyTensor::from(inverse), AnyTensor::from(counts)))
        }))?;
        Ok((self.back(at, values)?, inverse, counts))
    }

    /// The elements without those that repeat the one before, as a list; which of them each element is; and how often each was
    /// there in a row (`torch.unique_consecutive`).
    ///
    /// # Errors
    /// If there are no data or the dtype has no order.
    pub fn unique_consecutive(&self) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let (values, inverse, counts) = self.shaped(&[self.numel() as i64])?.runs(0)?;
        Ok((values, inverse.shaped(&self.signed_sizes())?, counts))
    }

    /// The same of slices along an axis (`torch.unique_consecutive(dim=…)`).
    ///
    /// # Errors
    /// As [`unique_axis`](Self::unique_axis).
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
        if self.is_meta() {
            return Err(Error::NoData { op });
        }
        among!(op, self.dtype, E: Ordered => {
            let _: Option<E> = None;
            Ok(())
        })?;
        let (dim, len) = (at as i64, self.sizes[at]);
        let rest = len.saturating_sub(1);
        let differ = self.narrow(dim, (len - rest) as i64, rest)?.ne(&self.narrow(dim, 0, rest)?)?;
        let others: Vec<i64> = (0..self.rank() as i64).filter(|&axis| axis != dim).collect();
        let differ = if others.is_empty() { differ } else { differ.any(Some(&others), false)? };
        let differ = differ.to_bytes()?;
        let (mut starts, mut inverse) = (Vec::new(), room(len)?);
        for at in 0..len {
            if at == 0 || differ[at - 1] != 0 {
                starts.push(at);
            }
            inverse.push(starts.len() as i64 - 1);
        }
        let ends = starts.iter().skip(1).copied().chain([len]);
        let counts = listed(starts.iter().zip(ends).map(|(&start, end)| (end - start) as i64))?;
        let slices = collected(starts.iter().map(|&start| self.narrow(dim, start as i64, 1)))?;
        let slices: Vec<&AnyTensor> = listed(&slices)?;
        let values = if slices.is_empty() { self.copy()? } else { end_to_end(op, &slices, at)? };
        let list = |values: Vec<i64>| {
            let count = values.len();
            AnyTensor::of_ints(values, &[count])
        };
        Ok((values, list(inverse)?, list(counts)?))
    }

    /// Where values would have to be put in to keep the last axis of `self` sorted, before equal elements or behind
    /// (`torch.searchsorted`). Values are a tensor or a scalar; dtypes promote. `sorter` says where the sorted elements are.
    ///
    /// # Errors
    /// If sizes do not match, or the dtypes promote to neither an integer nor a float.
    pub fn searchsorted(
        &self,
        values: impl Into<AnyOperand>,
        right: bool,
        sorter: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let op = "searchsorted";
        let invalid = |reason: String| Err(Error::InvalidArgument { op, reason });
        let Some(&len) = self.sizes.last() else {
            return invalid("what is sorted needs an axis".to_owned());
        };
        let sorted = match sorter {
            None => self.clone(),
            Some(sorter) if sorter.dtype != DType::I64 || *sorter.sizes != *self.sizes => {
                let (dtype, sizes) = (sorter.dtype, sorter.shape());
                return invalid(format!("`sorter` must be of int64 and {:?}, got {dtype} and {sizes:?}", self.shape()));
            }
            Some(sorter) => self.resorted(sorter)?,
        };
        let values = values.into();
        let dtype = promoted(op, [(KindRank::Dimensioned, self.dtype), (values.kind(), values.dtype())])?;
        let values = match values {
            AnyOperand::Array(values) => values,
            AnyOperand::Number(value) => {
                if self.rank() != 1 {
                    return invalid("a scalar is looked for in a list".to_owned());
                }
                // Integers have places for other numbers, too.
                let sorted = if self.dtype == DType::Bool { sorted.to(dtype)? } else { sorted };
                return on_device!(self, D => among!(op, sorted.dtype, E: Real => {
                    sorted.list::<E, D>()?.searchsorted_value(value, right).map(AnyTensor::from)
                }));
            }
        };
        crate::any::elementwise::apply::same_device(op, self, &values)?;
        let (sorted, values) = (sorted.to(dtype)?, values.to(dtype)?);
        let (lead, own) = (&self.sizes[..self.rank() - 1], values.sizes);
        let count = own.last().copied().unwrap_or(1);
        if self.rank() == 1 {
            let list = values.shaped(&[values.numel() as i64])?;
            let places = on_device!(self, D => among!(op, dtype, E: Real => {
                sorted.list::<E, D>()?.try_searchsorted(&list.list::<E, D>()?, right).map(AnyTensor::from)
            }))?;
            return places.shaped(&values.signed_sizes());
        }
        if own.len() != self.rank() || own[..lead.len()] != *lead {
            return invalid(format!(
                "all sizes but the last must be the same: sorted {:?}, values {:?}",
                self.shape(),
                values.shape()
            ));
        }
        let rows = lead.iter().product::<usize>() as i64;
        let (sorted, sought) = (sorted.shaped(&[rows, len as i64])?, values.shaped(&[rows, count as i64])?);
        let places = on_device!(self, D => among!(op, dtype, E: Real => {
            sorted.matrix::<E, D>()?.try_searchsorted(&sought.matrix::<E, D>()?, right).map(AnyTensor::from)
        }))?;
        places.shaped(&values.signed_sizes())
    }

    /// The elements along the last axis that indices name.
    fn resorted(&self, index: &AnyTensor) -> Result<AnyTensor> {
        let (rows, len) = (self.sizes[..self.rank() - 1].iter().product::<usize>() as i64, self.sizes[self.rank() - 1]);
        let width = match self.dtype.itemsize() {
            1 => DType::U8,
            2 => DType::I16,
            4 => DType::I32,
            _ => DType::I64,
        };
        let (x, index) =
            (self.resolved()?.view_dtype(width)?.shaped(&[rows, len as i64])?, index.shaped(&[rows, len as i64])?);
        let found = on_device!(self, D => among!("searchsorted", width, E: [u8, i16, i32, i64] => {
            let index = index.matrix::<i64, D>()?;
            x.matrix::<E, D>()?.try_gather(axis![1], &index).map(AnyTensor::from)
        }))?;
        found.view_dtype(self.dtype)?.shaped(&self.signed_sizes())
    }

    /// In which bucket each element is (`torch.bucketize`): the number of boundaries below it, or not above it.
    ///
    /// # Errors
    /// If the boundaries are no list, or the dtypes promote to neither an integer nor a float.
    pub fn bucketize(&self, boundaries: &AnyTensor, right: bool) -> Result<AnyTensor> {
        let op = "bucketize";
        if boundaries.rank() != 1 {
            let reason = format!("boundaries are a list, got a tensor with {} axes", boundaries.rank());
            return Err(Error::InvalidArgument { op, reason });
        }
        boundaries.searchsorted(self, right, None)
    }

    /// Whether each element is one of those of another tensor (`torch.isin`).
    ///
    /// # Errors
    /// If a dtype is neither an integer nor a float.
    pub fn isin(&self, test: impl Into<AnyOperand>) -> Result<AnyTensor> {
        is_in(&self.into(), &test.into())
    }

    pub(crate) fn signed_sizes(&self) -> Vec<i64> {
        self.sizes.iter().map(|&size| size as i64).collect()
    }
}

/// Whether elements are among those tested for.
pub(crate) fn is_in(elements: &AnyOperand, test: &AnyOperand) -> Result<AnyTensor> {
    let op = "isin";
    let bools = |operand: &AnyOperand| operand.dtype() == DType::Bool;
    if bools(elements) || bools(test) {
        return Err(crate::any::base::dispatch::refused(op, DType::Bool));
    }
    let dtype = promoted(op, [(elements.kind(), elements.dtype()), (test.kind(), test.dtype())])?;
    let tensor = |operand: &AnyOperand| match operand {
        AnyOperand::Array(tensor) => tensor.to(dtype),
        AnyOperand::Number(value) => AnyTensor::scalar_of(op, *value, dtype),
    };
    if let (AnyOperand::Array(elements), AnyOperand::Array(test)) = (elements, test) {
        crate::any::elementwise::apply::same_device(op, elements, test)?;
    }
    let (x, test) = (tensor(elements)?, tensor(test)?);
    if x.is_meta() || test.is_meta() {
        return among!(op, dtype, E: Real => {
            let _: Option<E> = None;
            AnyTensor::meta(&x.sizes, DType::Bool)
        });
    }
    let list = x.shaped(&[x.numel() as i64])?;
    let found = on_device!(x, D => among!(op, dtype, E: Real => {
        list.list::<E, D>()?.try_isin(&test.list::<E, D>()?).map(AnyTensor::from)
    }))?;
    found.shaped(&x.signed_sizes())
}
