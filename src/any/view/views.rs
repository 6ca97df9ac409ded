//! Views: the same elements through other sizes and strides, computed at run time.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use crate::any::{AnyTensor, Dims};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::layout::positions::{Kept, from_end, index_from_end};
use crate::layout::{ViewAxes, bounds, write_moved};
use castiron_macros::operations;

/// An axis, possibly counted from the end, in a tensor of this rank (a zero-dim tensor counts as having one axis).
pub(crate) fn axis(op: &'static str, axis: i64, rank: usize) -> Result<usize> {
    let count = rank.max(1) as i64;
    if (-count..count).contains(&axis) {
        return Ok(axis.rem_euclid(count) as usize);
    }
    invalid(
        op,
        format!("axis {axis} is out of range for a tensor with {rank} axes: expected {} to {}", -count, count - 1),
    )
}

/// Several axes, each given once.
pub(crate) fn axes(op: &'static str, named: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(named.len());
    for &name in named {
        let at = axis(op, name, rank)?;
        if found.contains(&at) {
            return invalid(op, format!("axis {name} is named a second time"));
        }
        found.push(at);
    }
    Ok(found)
}

#[operations]
impl AnyTensor {
    /// The given axes, in this order.
    pub(super) fn picked(&self, order: &[usize]) -> Result<AnyTensor> {
        self.viewed_by("permute", order.len(), |own, view| Ok(own.pick(order.iter().copied(), view)))
    }

    /// The number and the size of an axis; a zero-dim tensor has none.
    pub(crate) fn axis_of(&self, op: &'static str, dim: i64, doing: &str) -> Result<(usize, usize)> {
        if self.rank() == 0 {
            return invalid(op, format!("a zero-dim tensor has no axis to {doing}"));
        }
        let at = axis(op, dim, self.rank())?;
        Ok((at, self.sizes[at]))
    }

    /// One position along an axis, which is removed (`torch.select`). Negative indices count from the end.
    ///
    /// # Errors
    /// If the axis or the index is out of range.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.select(1, -1)?.to_string(), "tensor([3, 6])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(select(input, dim, index))]
    #[view_mut]
    pub fn select(&self, dim: i64, index: i64) -> Result<AnyTensor> {
        let op = "select";
        let (at, size) = self.axis_of(op, dim, "select from")?;
        let index = index_from_end(op, index, at, size)?;
        self.viewed_by(op, self.rank() - 1, |own, view| own.select(op, at, index, view))
    }

    /// `len` positions along an axis, from `start` (`torch.narrow`). A negative start counts from the end.
    ///
    /// # Errors
    /// If the range reaches beyond the axis.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.narrow(1, 1, 2)?.to_string(), "tensor([[2, 3],\n        [5, 6]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(narrow(input, dim, start, length))]
    #[view_mut]
    pub fn narrow(&self, dim: i64, start: i64, len: usize) -> Result<AnyTensor> {
        let op = "narrow";
        let (axis, size) = self.axis_of(op, dim, "narrow")?;
        let from = from_end(start, size).ok_or(Error::IndexValue { op, index: start, axis, size })?;
        self.viewed_by(op, self.rank(), |own, view| own.narrow(op, axis, from, len, view))
    }

    #[op(narrow_copy(input, dim, start, length))]
    fn narrow_copy_by_name(&self, dim: i64, start: i64, len: usize) -> Result<AnyTensor> {
        self.narrow(dim, start, len)?.copy()
    }

    /// `start:end:step` along an axis, as Python's slices (`torch.ops.aten.slice`): bounds beyond the axis are clamped.
    ///
    /// # Errors
    /// If the axis is out of range or the step is not positive.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.slice(1, None, None, 2)?.to_string(), "tensor([[1, 3],\n        [4, 6]])"); // `x[:, ::2]`
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(slice(input, dim = 0, start = None, end = None, step = 1))]
    #[view_mut]
    pub fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<AnyTensor> {
        let op = "slice";
        let (at, size) = self.axis_of(op, dim, "slice")?;
        let kept = Kept::between(op, [start, end], step, size)?;
        self.viewed_by(op, self.rank(), |own, view| Ok(own.slice(at, kept, view)))
    }

    /// Two axes exchanged (`torch.transpose`).
    ///
    /// # Errors
    /// If an axis is out of range.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.transpose(0, 1)?.shape(), [3, 2]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(transpose(input, dim0, dim1), in_place(view), aliases("swapaxes", "swapdims"))]
    #[view_mut]
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<AnyTensor> {
        let [a, b] = [axis("transpose", dim0, self.rank())?, axis("transpose", dim1, self.rank())?];
        let mut view = self.clone();
        if self.rank() > 0 {
            view.sizes.swap(a, b);
            view.strides.swap(a, b);
        }
        Ok(view)
    }

    /// The transposed matrix; a tensor of less than two axes as it is (`torch.t`).
    ///
    /// # Errors
    /// If there are more than two axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.t()?.to_string(), "tensor([[1, 4],\n        [2, 5],\n        [3, 6]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(t(input), in_place(view))]
    #[view_mut]
    pub fn t(&self) -> Result<AnyTensor> {
        match self.rank() {
            0 | 1 => Ok(self.clone()),
            2 => self.transpose(0, 1),
            rank => invalid("t", format!("a tensor with at most 2 axes is wanted, got one with {rank}")),
        }
    }

    #[op(T(input))]
    fn reversed_by_name(&self) -> Result<AnyTensor> {
        self.picked(&(0..self.rank()).rev().collect::<Vec<_>>())
    }

    #[op(mT(input))]
    fn matrices_transposed_by_name(&self) -> Result<AnyTensor> {
        match self.rank() {
            0 => Ok(self.clone()),
            1 => invalid("mT", "matrices are wanted, got a tensor with 1 axes".to_owned()),
            _ => self.transpose(-2, -1),
        }
    }

    /// The axes in another order (`torch.permute`).
    ///
    /// # Errors
    /// If not every axis is named once.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let x = AnyTensor::zeros(&[2, 3, 4], DType::F32)?;
    /// assert_eq!(x.permute(&[2, 0, -2])?.shape(), [4, 2, 3]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(permute(input, *dims))]
    #[view_mut]
    pub fn permute(&self, dims: &[i64]) -> Result<AnyTensor> {
        let order = axes("permute", dims, self.rank())?;
        if order.len() != self.rank() {
            return invalid("permute", format!("a tensor with {} axes takes as many, got {dims:?}", self.rank()));
        }
        self.picked(&order)
    }

    /// Axes moved to other positions, the others keeping their order (`torch.movedim`).
    ///
    /// # Errors
    /// If an axis is out of range or named twice, or the lists differ in length.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let x = AnyTensor::zeros(&[2, 3, 4], DType::F32)?;
    /// assert_eq!(x.movedim(&[0], &[-1])?.shape(), [3, 4, 2]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(movedim(input, source, destination), aliases("moveaxis"))]
    #[view_mut]
    pub fn movedim(&self, source: &[i64], destination: &[i64]) -> Result<AnyTensor> {
        let op = "movedim";
        if source.len() != destination.len() {
            return invalid(op, format!("{source:?} and {destination:?} name different numbers of axes"));
        }
        let (from, to) = (axes(op, source, self.rank())?, axes(op, destination, self.rank())?);
        let mut order = self.sizes;
        write_moved(&from, &to, &mut order);
        self.picked(&order)
    }

    /// Windows of `size` positions along an axis, at a distance of `step`, as a new last axis (`torch.Tensor.unfold`).
    ///
    /// # Errors
    /// If the window is larger than the axis, the step is 0, or there would be more elements than can be counted.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// assert_eq!(x.unfold(0, 2, 1)?.to_string(), "tensor([[1, 2],\n        [2, 3],\n        [3, 4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(unfold(input, dimension, size, step))]
    #[view_mut]
    pub fn unfold(&self, dim: i64, size: usize, step: usize) -> Result<AnyTensor> {
        let op = "unfold";
        let at = axis(op, dim, self.rank())?;
        self.viewed_by(op, self.rank() + 1, |own, view| {
            let ViewAxes { sizes, strides } = view;
            let offset = own.unfold(op, at, size, step, ViewAxes { sizes: &mut *sizes, strides })?;
            crate::any::checked_numel(op, sizes, self.dtype)?;
            Ok(offset)
        })
    }

    /// The diagonals of the matrices along two axes, as a last axis (`torch.diagonal`).
    ///
    /// # Errors
    /// If the axes are out of range or the same.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.diagonal(1, 0, 1)?.to_string(), "tensor([2, 6])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(diagonal(input, offset = 0, dim1 = 0, dim2 = 1))]
    #[op(linalg.diagonal(input, offset = 0, dim1 = -2, dim2 = -1))]
    #[view_mut]
    pub fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<AnyTensor> {
        let op = "diagonal";
        if self.rank() < 2 {
            return invalid(op, format!("a tensor with at least 2 axes is wanted, got one with {}", self.rank()));
        }
        let [a, b] = [axis(op, dim1, self.rank())?, axis(op, dim2, self.rank())?];
        if a == b {
            return invalid(op, format!("the axes {dim1} and {dim2} are one"));
        }
        self.viewed_by(op, self.rank() - 1, |own, view| Ok(own.diagonal(offset, a, b, view)))
    }

    /// Any sizes, strides and offset over the storage (`torch.as_strided`).
    ///
    /// If others may write the storage meanwhile (it is borrowed, or has elements of another library's array in between), the view is of a
    /// copy of the tensor's own elements, with the same strides and zeros between; the offset counts from the first of them.
    ///
    /// # Errors
    /// If they reach beyond the storage.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// assert_eq!(x.as_strided(&[2, 2], &[1, 2], None)?.to_string(), "tensor([[1, 3],\n        [2, 4]])");
    /// assert!(x.as_strided(&[5], &[1], None).is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(as_strided(input, size, stride, storage_offset = None), in_place(view))]
    pub fn as_strided(&self, sizes: &[usize], strides: &[usize], offset: Option<usize>) -> Result<AnyTensor> {
        let op = "as_strided";
        if self.is_conj() || self.is_neg() {
            // `as_strided` may reach elements of the storage outside of this tensor.
            return self.viewed_keeping_bit(|x| x.as_strided(sizes, strides, offset));
        }
        if sizes.len() != strides.len() {
            return invalid(op, format!("{sizes:?} and {strides:?} differ in length"));
        }
        let (sizes, strides) = (Dims::new(op, sizes)?, Dims::new(op, strides)?);
        crate::any::checked_numel(op, &sizes, self.dtype)?;
        let whole = self.shared_own()?;
        let offset = offset.unwrap_or(whole.offset);
        bounds::expect_within(op, &sizes, &strides, offset, whole.room(self.dtype))?;
        if self.dtype == DType::Bool {
            let own = (whole.offset, &*whole.sizes, &*whole.strides);
            crate::tensor::expect_widened::<Dynamic>(op, whole.buffer()?, own, (offset, &sizes, &strides))?;
        }
        Ok(whole.viewed(offset, &sizes, &strides))
    }

    /// The tensor, for a view of its storage that reaches other elements than its own: if others may write those meanwhile, it is a copy of
    /// its own elements with the same strides and zeros between. (See `Backend::share_own`.)
    fn shared_own(&self) -> Result<AnyTensor> {
        Ok(match self.erased()?.share_own()? {
            Some(own) => AnyTensor::fresh(own, self.dtype, &self.sizes, &self.strides),
            None => self.clone(),
        })
    }
}
