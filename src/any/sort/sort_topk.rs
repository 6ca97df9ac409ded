//! `sort`, `argsort`, `msort`, `topk`, `kthvalue`, `mode`, along one axis. Uses `tensor::sort`; medians use it.

use crate::any::AnyTensor;
use crate::any::base::as_typed::Rank3;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::view::views::axis;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::arguments::Order;
use crate::tensor::{admitted, ranked};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// What is chosen by rank along an axis, `[before, chosen, after]`, and where it is.
    fn ranked(&self, op: &'static str, order: Order, at: usize) -> Result<(AnyTensor, AnyTensor)> {
        admitted(op, order, self.shape(), at)?;
        let cube = self.as_three_axes(at)?;
        dispatch_dtype!(op, self.dtype, E: Ordered => {
            let (values, places) = ranked::<E, Rank3, Rank3, Dynamic>(op, &cube.typed_rank3()?, order, 1)?;
            Ok((AnyTensor::from(values), AnyTensor::from(places)))
        })
    }

    /// Several of them in place of the axis.
    fn several(&self, op: &'static str, order: Order, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        let at = axis(op, dim, self.rank())?;
        let (values, places) = self.ranked(op, order, at)?;
        Ok((self.with_axis_restored(at, values)?, self.with_axis_restored(at, places)?))
    }

    /// One of them, without the axis unless `keepdim`.
    pub(crate) fn single(
        &self,
        op: &'static str,
        order: Order,
        dim: i64,
        keepdim: bool,
    ) -> Result<(AnyTensor, AnyTensor)> {
        let at = axis(op, dim, self.rank())?;
        let (values, places) = self.ranked(op, order, at)?;
        Ok((self.with_axis_reduced(at, keepdim, values)?, self.with_axis_reduced(at, keepdim, places)?))
    }

    /// `bool` has an order, but is not ranked.
    pub(crate) fn expect_number(&self, op: &'static str) -> Result<()> {
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
    #[op(sort(input, dim = -1, descending = false, stable = _), dtypes = ordered)]
    pub fn sort(&self, dim: i64, descending: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.several("sort", Order::Sort { descending }, dim)
    }

    /// Where the elements along an axis are in order (`torch.argsort`).
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![3, 1, 2]);
    /// assert_eq!(x.argsort(-1, true)?.to_string(), "tensor([0, 2, 1])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(argsort(input, dim = -1, descending = false, stable = _), dtypes = ordered)]
    pub fn argsort(&self, dim: i64, descending: bool) -> Result<AnyTensor> {
        Ok(self.several("argsort", Order::Sort { descending }, dim)?.1)
    }

    /// The elements along the first axis in order (`torch.msort`).
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[3, 1], [2, 4]]);
    /// assert_eq!(x.msort()?.to_string(), "tensor([[2, 1],\n        [3, 4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(msort(input), dtypes = ordered)]
    pub fn msort(&self) -> Result<AnyTensor> {
        Ok(self.several("msort", Order::Sort { descending: false }, 0)?.0)
    }

    /// The `k` largest or smallest elements along an axis in order, and where they are (`torch.topk`).
    ///
    /// # Errors
    /// If the axis is out of range or has fewer elements, or the dtype is neither an integer nor a float.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (values, places) = AnyTensor::from(tensor![3, 1, 2]).topk(2, -1, true)?;
    /// assert_eq!((values.to_string(), places.to_string()), ("tensor([3, 2])".into(), "tensor([0, 2])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(topk(input, k, dim = -1, largest = true, sorted = _), dtypes = real)]
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
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (value, place) = AnyTensor::from(tensor![3, 1, 2]).kthvalue(2, -1, false)?;
    /// assert_eq!((value.to_string(), place.to_string()), ("tensor(2)".into(), "tensor(2)".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(kthvalue(input, k, dim = -1, keepdim = false), dtypes = real)]
    pub fn kthvalue(&self, k: usize, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.expect_number("kthvalue")?;
        self.single("kthvalue", Order::Kth { k: k.wrapping_sub(1) }, dim, keepdim)
    }

    /// The most frequent element along an axis, and where it is last (`torch.mode`).
    ///
    /// # Errors
    /// If the axis is out of range or empty, or the dtype has no order.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (value, place) = AnyTensor::from(tensor![3, 1, 3]).mode(-1, false)?;
    /// assert_eq!((value.to_string(), place.to_string()), ("tensor(3)".into(), "tensor(2)".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(mode(input, dim = -1, keepdim = false), dtypes = ordered)]
    pub fn mode(&self, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.single("mode", Order::Mode, dim, keepdim)
    }
}
