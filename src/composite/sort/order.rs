//! Order along one axis: `sort`, `argsort`, `msort`, `topk`, `kthvalue`, `mode`.
//!
//! NaN is larger than every number. Equal elements keep their order, in either direction.

use crate::composite::erased::left_over;
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::ops::admit::{OrderedFor, RealFor};
use crate::ops::arguments::Order;
use crate::ops::choosing;
use crate::shape::{AxisArg, Dyn, HasAxis, HoldsAtLeast, Known, OneAxis, Shape};
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The elements along an axis in ascending or descending order, and their original indices.
    ///
    /// Shape: that of `self`, twice; the indices are `i64`. NaN is larger than every number. Equal elements stay in their order
    /// (PyTorch's `stable=True`).
    #[op(sort(input, dim = -1, descending = false, stable = _), dtypes = ordered)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>, descending: bool) -> (Tensor<E, S, D>, Tensor<i64, S, D>)
        where
            S: HasAxis<I>,
            E: OrderedFor<choosing::sort>)]
    #[example(let x = tensor![[3, 1, 2], [5, 4, 5]]; x.sort(axis![1], false).0, x.sort(1, false).0, tensor![[1, 2, 3], [4, 5, 5]])]
    #[example(let x = tensor![[3, 1, 2], [5, 4, 5]]; x.sort(axis![1], false).1, x.sort(1, false).1, tensor![[1, 2, 0], [1, 0, 2]])]
    pub(crate) fn sort(&self, dim: Axis, descending: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        self.ranked("sort", Order::Sort { descending }, dim, true)
    }

    /// The indices that sort the elements along an axis in ascending or descending order: the indices of [`sort`](Self::sort).
    #[op(argsort(input, dim = -1, descending = false, stable = _), dtypes = ordered)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>, descending: bool) -> Tensor<i64, S, D>
        where
            S: HasAxis<I>,
            E: OrderedFor<choosing::argsort>)]
    #[example(let x = tensor![0.5, f32::NAN, -1.0]; x.argsort(axis![0], true), x.argsort(0, true), tensor![1, 0, 2])]
    pub(crate) fn argsort(&self, dim: Axis, descending: bool) -> Result<Owned<i64, D>> {
        Ok(self.ranked("argsort", Order::Sort { descending }, dim, true)?.1)
    }

    /// The elements along the first axis in ascending order: the values of [`sort`](Self::sort).
    #[op(msort(input), dtypes = ordered)]
    #[typed((&self) -> Self
        where
            S: HasAxis<0>,
            E: OrderedFor<choosing::msort>)]
    #[example(let x = tensor![[3, 1], [2, 4]]; x.msort(), x.msort(), tensor![[2, 1], [3, 4]])]
    pub(crate) fn msort(&self) -> Result<Owned<E, D>> {
        Ok(self.ranked("msort", Order::Sort { descending: false }, Axis(0), true)?.0)
    }

    /// The `k` largest elements along an axis, or the smallest, in order, and their indices. For a `Tensor` `K` is a type: `topk::<dim!(5),
    /// _>(axis![-1], true)`; one that exceeds a size known to the compiler does not compile.
    ///
    /// Shape: that of `self` with size `k` in place of the axis, twice; the indices are `i64`. NaN is larger than every number; of equal
    /// elements the first are taken.
    ///
    /// # Errors
    /// If the axis has fewer elements.
    #[op(topk(input, k, dim = -1, largest = true, sorted = _), dtypes = real)]
    #[any(let () = self.expect_number("topk")?)]
    #[typed(<K: Known, const I: isize>(&self, axis: impl AxisArg<I>, largest: bool) -> (Tensor<E, <S as HasAxis<I>>::Replace<K>, D>, Tensor<i64, <S as HasAxis<I>>::Replace<K>, D>)
        where
            S: HasAxis<I, Dim: HoldsAtLeast<K>>,
            E: RealFor<choosing::topk>;
        k = K::VALUE)]
    #[example(let x = tensor![[3, 1, 2], [4, 6, 5]]; x.topk::<dim!(2), _>(axis![1], true).0, x.topk(2, 1, true).0, tensor![[3, 2], [6, 5]])]
    #[example(let x = tensor![[3, 1, 2], [4, 6, 5]]; x.topk::<dim!(2), _>(axis![1], true).1, x.topk(2, 1, true).1, tensor![[0, 2], [1, 2]])]
    pub(crate) fn topk(&self, k: usize, dim: Axis, largest: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        // A zero-dim tensor has one element, which PyTorch returns even for `k` of 0.
        let k = if self.rank() == 0 && k == 0 { 1 } else { k };
        self.ranked("topk", Order::Top { k, largest }, dim, true)
    }

    /// [`topk`](Self::topk) with a `k` known at run time.
    ///
    /// # Errors
    /// If the axis has fewer elements.
    #[op(topk, dtypes = real)]
    #[any(by_hand)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>, k: usize, largest: bool) -> (Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>, Tensor<i64, <S as HasAxis<I>>::Replace<Dyn>, D>)
        where
            S: HasAxis<I>,
            E: RealFor<choosing::topk>)]
    #[example(let x = tensor![0.5, f32::NAN, -1.0, 2.0]; x.topk_sized(axis![0], 2, false).0.with_shape::<shape![2]>(), x.topk(2, 0, false).0, tensor![-1.0, 0.5])]
    pub(crate) fn topk_sized(&self, k: usize, dim: Axis, largest: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        self.topk(k, dim, largest)
    }

    /// The `k`-th smallest element along an axis, counted from 1, and its index.
    ///
    /// Shape: that of `self` without the axis, twice; the indices are `i64`. NaN is larger than every number.
    ///
    /// # Errors
    /// If `k` is 0 or larger than the axis.
    #[op(kthvalue(input, k, dim = -1, keepdim = false), dtypes = real)]
    #[any(let () = self.expect_number("kthvalue")?)]
    #[typed(<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A, k: usize) -> (Tensor<E, T, D>, Tensor<i64, T, D>)
        where
            E: RealFor<choosing::kthvalue>;
        keepdim = A::KEEPS)]
    #[example(let x = tensor![[3, 1, 2], [4, 6, 5]]; x.kthvalue(axis![1], 2).0, x.kthvalue(2, 1, false).0, tensor![2, 5])]
    #[example(let x = tensor![[3, 1, 2], [4, 6, 5]]; x.kthvalue(axis![1], 2).1, x.kthvalue(2, 1, false).1, tensor![2, 2])]
    pub(crate) fn kthvalue(&self, k: usize, dim: Axis, keepdim: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        self.ranked("kthvalue", Order::Kth { k: k.wrapping_sub(1) }, dim, keepdim)
    }

    /// The most frequent element along an axis, the smallest of several, and its last index. NaN equals nothing.
    ///
    /// Shape: that of `self` without the axis, twice; the indices are `i64`.
    ///
    /// # Errors
    /// If the axis is empty.
    #[op(mode(input, dim = -1, keepdim = false), dtypes = ordered)]
    #[typed(<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A) -> (Tensor<E, T, D>, Tensor<i64, T, D>)
        where
            E: OrderedFor<choosing::mode>;
        keepdim = A::KEEPS)]
    #[example(let x = tensor![[5, 2, 7, 2]]; x.mode(axis![1]).0, x.mode(1, false).0, tensor![2])]
    #[example(let x = tensor![[5, 2, 7, 2]]; x.mode(axis![1]).1, x.mode(1, false).1, tensor![3])]
    pub(crate) fn mode(&self, dim: Axis, keepdim: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        self.ranked("mode", Order::Mode, dim, keepdim)
    }

    /// Elements selected by rank along an axis, which is replaced or removed, and their indices. (A zero-dim tensor counts as one axis of
    /// size 1.)
    pub(super) fn ranked(
        &self,
        op: &'static str,
        order: Order,
        Axis(at): Axis,
        keepdim: bool,
    ) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        let (len, mut sizes) = (self.sizes().get(at).copied().unwrap_or(1), self.dims());
        if !order.admits(len) {
            let out_of_range =
                |k: usize, from| invalid(op, format!("k is {k}, but goes from {from} to {len}, the size of axis {at}"));
            return match order {
                Order::Top { k, .. } => out_of_range(k, 0),
                Order::Kth { k } => out_of_range(k.wrapping_add(1), 1),
                _ => Err(Error::EmptyReduction { op, sizes: self.sizes().into() }),
            };
        }
        if let Some(size) = sizes.get_mut(at) {
            *size = order.len(len);
        }
        checked_numel::<i64>(op, &sizes)?;
        let [values, places] = D::order(order, self.lifted(op)?.view(), at)?;
        if !keepdim {
            sizes = left_over(&sizes, 1 << at, false);
        }
        Ok((Erased::dense(values, sizes), Erased::dense(places, sizes)))
    }
}
