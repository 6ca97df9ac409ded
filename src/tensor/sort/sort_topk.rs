//! Order along one axis: `sort`, `argsort`, `msort`, `topk`, `kthvalue`, `mode`.
//!
//! NaN is larger than every number. Of equals the first comes first, in either direction.
//! Uses `index::gather`, `ops`, `ops::admit`, `ops::arguments`; used by `any`, `reduce::median`.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::Op;
use crate::ops::admit::{OrderedFor, RealFor};
use crate::ops::arguments::Order;
use crate::ops::choosing;
use crate::shape::{AxisArg, Dyn, HasAxis, HoldsAtLeast, Known, OneAxis, Shape};
use crate::tensor::index::gather::{dense, lifted};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// Values and where they were.
type Ranked<E, T, D> = (Tensor<E, T, D>, Tensor<i64, T, D>);

/// What is chosen by rank along an axis. `T` is the shape with what is chosen in place of the axis, or without the axis.
pub(crate) fn ranked<E: Element, S: Shape, T: Shape, D: Device>(
    op: &'static str,
    x: &Tensor<E, S, D>,
    order: Order,
    axis: usize,
) -> Result<Ranked<E, T, D>> {
    let (mut sizes, strides) = lifted(&x.elements());
    admitted(op, order, x.shape().as_ref(), axis)?;
    let [values, indices] = D::order(order, x.elements().restrided(&sizes, &strides), axis)?;
    sizes[axis] = order.len(sizes[axis]);
    if T::RANK < sizes.len() {
        sizes.remove(axis);
    }
    expect_fit::<T>(op, if T::RANK == 0 { &[] } else { &sizes })?;
    checked_numel::<i64>(op, &sizes)?;
    Ok((dense(values, &sizes), dense(indices, &sizes)))
}

/// Checks that the axis is long enough for `order`. (A zero-dim tensor counts as one axis of size 1.)
pub(crate) fn admitted(op: &'static str, order: Order, sizes: &[usize], axis: usize) -> Result<()> {
    let len = sizes.get(axis).copied().unwrap_or(1);
    if order.admits(len) {
        return Ok(());
    }
    Err(match order {
        Order::Top { k, .. } => out_of_range(op, k, "from 0", len, axis),
        Order::Kth { k } => out_of_range(op, k.wrapping_add(1), "from 1", len, axis),
        _ => Error::EmptyReduction { op, sizes: sizes.into() },
    })
}

#[cold]
fn out_of_range(op: &'static str, k: usize, from: &str, len: usize, axis: usize) -> Error {
    Error::InvalidArgument { op, reason: format!("k is {k}, but goes {from} to {len}, the size of axis {axis}") }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The elements along an axis from the smallest to the largest, or the other way round, and where they were.
    ///
    /// Shape: that of `self`, twice. Dtypes: all with an order; the indices are `i64`. NaN is larger than every number. Equal
    /// elements stay in their order (PyTorch's `stable=True`).
    ///
    /// PyTorch: `torch.sort`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let (values, indices) = tensor![[3, 1, 2], [5, 4, 5]].sort(axis![1], false);
    /// assert_eq!(values.to_vec(), [1, 2, 3, 4, 5, 5]);
    /// assert_eq!(indices.to_vec(), [1, 2, 0, 1, 0, 2]);
    /// ```
    #[fallible]
    pub fn sort<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        descending: bool,
    ) -> Result<(Tensor<E, S, D>, Tensor<i64, S, D>)>
    where
        S: HasAxis<I>,
        E: OrderedFor<choosing::sort>,
    {
        ranked::<E, S, S, D>(choosing::sort::NAME, self, Order::Sort { descending }, <S as HasAxis<I>>::INDEX)
    }

    /// Where the elements along an axis are, from the smallest to the largest or the other way round: the indices of
    /// [`sort`](Self::sort).
    ///
    /// PyTorch: `torch.argsort`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![0.5, f32::NAN, -1.0].argsort(axis![0], true).to_vec(), [1, 0, 2]);
    /// ```
    #[fallible]
    pub fn argsort<const I: isize>(&self, axis: impl AxisArg<I>, descending: bool) -> Result<Tensor<i64, S, D>>
    where
        S: HasAxis<I>,
        E: OrderedFor<choosing::argsort>,
    {
        let order = Order::Sort { descending };
        Ok(ranked::<E, S, S, D>(choosing::argsort::NAME, self, order, <S as HasAxis<I>>::INDEX)?.1)
    }

    /// The elements along the first axis from the smallest to the largest: the values of [`sort`](Self::sort).
    ///
    /// PyTorch: `torch.msort`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[3, 1], [2, 4]].msort().to_vec(), [2, 1, 3, 4]);
    /// ```
    #[fallible]
    pub fn msort(&self) -> Result<Self>
    where
        S: HasAxis<0>,
        E: OrderedFor<choosing::msort>,
    {
        Ok(ranked::<E, S, S, D>(choosing::msort::NAME, self, Order::Sort { descending: false }, 0)?.0)
    }

    /// The `K` largest elements along an axis, or the smallest, in order, and where they were. `K` is a size:
    /// `topk::<dim!(5), _>(axis![-1], true)`.
    ///
    /// Shape: that of `self` with `K` in place of the axis, twice. Dtypes: integers and floats; the indices are `i64`. NaN is
    /// larger than every number; of equals the first count. A `K` larger than a size that the compiler knows does not compile.
    ///
    /// PyTorch: `torch.topk`.
    ///
    /// # Panics
    /// If the axis has fewer elements.
    ///
    /// ```
    /// use castiron::{axis, dim, shape, tensor, Tensor};
    /// let (values, indices) = tensor![[3, 1, 2], [4, 6, 5]].topk::<dim!(2), _>(axis![1], true);
    /// let _: &Tensor<i64, shape![2, 2]> = &values;
    /// assert_eq!((values.to_vec(), indices.to_vec()), (vec![3, 2, 6, 5], vec![0, 2, 1, 2]));
    /// ```
    #[fallible]
    pub fn topk<K: Known, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        largest: bool,
    ) -> Result<(Tensor<E, <S as HasAxis<I>>::Replace<K>, D>, Tensor<i64, <S as HasAxis<I>>::Replace<K>, D>)>
    where
        S: HasAxis<I, Dim: HoldsAtLeast<K>>,
        E: RealFor<choosing::topk>,
    {
        let order = Order::Top { k: K::VALUE, largest };
        ranked::<E, S, _, D>(choosing::topk::NAME, self, order, <S as HasAxis<I>>::INDEX)
    }

    /// [`topk`](Self::topk) with a `k` known at run time.
    ///
    /// # Panics
    /// If the axis has fewer elements.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let k = 2;
    /// let (values, _) = tensor![0.5, f32::NAN, -1.0, 2.0].topk_sized(axis![0], k, false);
    /// assert_eq!(values.to_vec(), [-1.0, 0.5]);
    /// ```
    #[fallible]
    pub fn topk_sized<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        k: usize,
        largest: bool,
    ) -> Result<(Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>, Tensor<i64, <S as HasAxis<I>>::Replace<Dyn>, D>)>
    where
        S: HasAxis<I>,
        E: RealFor<choosing::topk>,
    {
        // A zero-dim tensor has one element, which PyTorch gives for `k` of 0 too.
        let k = if S::RANK == 0 && k == 0 { 1 } else { k };
        ranked::<E, S, _, D>(choosing::topk::NAME, self, Order::Top { k, largest }, <S as HasAxis<I>>::INDEX)
    }

    /// The `k`-th smallest element along an axis, counted from 1, and where it is.
    ///
    /// Shape: that of `self` without the axis, twice. Dtypes: integers and floats; the indices are `i64`. NaN is larger than
    /// every number.
    ///
    /// PyTorch: `torch.kthvalue`.
    ///
    /// # Panics
    /// If `k` is 0 or larger than the axis.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let (values, indices) = tensor![[3, 1, 2], [4, 6, 5]].kthvalue(axis![1], 2);
    /// assert_eq!((values.to_vec(), indices.to_vec()), (vec![2, 5], vec![2, 2]));
    /// ```
    #[fallible]
    pub fn kthvalue<A: OneAxis<S, Reduced = T>, T: Shape>(
        &self,
        axis: A,
        k: usize,
    ) -> Result<(Tensor<E, T, D>, Tensor<i64, T, D>)>
    where
        E: RealFor<choosing::kthvalue>,
    {
        let order = Order::Kth { k: k.wrapping_sub(1) };
        ranked::<E, S, _, D>(choosing::kthvalue::NAME, self, order, A::MASK.trailing_zeros() as usize)
    }

    /// The most frequent element along an axis, the smallest of several, and where it is last. NaN equals nothing.
    ///
    /// Shape: that of `self` without the axis, twice. Dtypes: all with an order; the indices are `i64`.
    ///
    /// PyTorch: `torch.mode`.
    ///
    /// # Panics
    /// If the axis is empty.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let (value, index) = tensor![5, 2, 7, 2].mode(axis![0]);
    /// assert_eq!((value.item(), index.item()), (2, 3));
    /// ```
    #[fallible]
    pub fn mode<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A) -> Result<(Tensor<E, T, D>, Tensor<i64, T, D>)>
    where
        E: OrderedFor<choosing::mode>,
    {
        ranked::<E, S, _, D>(choosing::mode::NAME, self, Order::Mode, A::MASK.trailing_zeros() as usize)
    }
}
