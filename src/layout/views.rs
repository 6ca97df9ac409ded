//! The rules of views: selecting, inserting and removing axes, keeping positions, broadcasting, diagonals and windows.

use super::positions::{Kept, expect_index, expect_range};
use super::{Geometry, ViewAxes};
use crate::error::{Error, Result, invalid};
use crate::shape::broadcast_size;

impl ViewAxes<'_> {
    #[inline]
    pub(crate) fn set(&mut self, axis: usize, size: usize, stride: usize) {
        (self.sizes[axis], self.strides[axis]) = (size, stride);
    }

    /// Copies a tensor's axes; the view's further axes are left to the caller.
    #[inline]
    pub(super) fn copy(&mut self, from: Geometry<'_>) {
        let rank = from.sizes.len();
        self.sizes[..rank].copy_from_slice(from.sizes);
        self.strides[..rank].copy_from_slice(from.strides);
    }
}

/// The order of axes after swapping two (`torch.transpose`).
#[inline]
pub(crate) fn exchanged(rank: usize, first: usize, second: usize) -> impl Iterator<Item = usize> + Clone {
    (0..rank).map(move |axis| match axis {
        axis if axis == first => second,
        axis if axis == second => first,
        axis => axis,
    })
}

/// The order of axes after moving some of them; the others keep their order (`torch.movedim`).
#[inline]
pub(crate) fn write_moved(from: &[usize], to: &[usize], order: &mut [usize]) {
    let mut rest = (0..order.len()).filter(|axis| !from.contains(axis));
    for (at, axis) in order.iter_mut().enumerate() {
        *axis = match to.iter().position(|&to| to == at) {
            Some(named) => from[named],
            // As many axes remain as places.
            None => rest.next().unwrap_or(at),
        };
    }
}

impl<'a> Geometry<'a> {
    #[inline]
    pub(crate) fn new(offset: usize, sizes: &'a [usize], strides: &'a [usize]) -> Self {
        Geometry { offset, sizes, strides }
    }

    /// The offset of a position along an axis.
    #[inline]
    fn start(self, axis: usize, position: usize) -> usize {
        self.offset.wrapping_add(position.wrapping_mul(self.strides[axis]))
    }

    /// The stride of an axis of size 1 inserted before another: row-major, as in PyTorch.
    #[inline]
    pub(crate) fn inserted_stride(self, axis: usize) -> usize {
        self.sizes.get(axis).map_or(1, |&size| size.wrapping_mul(self.strides[axis]))
    }

    /// Axis `i` of the view is axis `order[i]`: a permutation, or fewer axes.
    #[inline]
    pub(crate) fn pick(self, order: impl Iterator<Item = usize>, mut view: ViewAxes<'_>) -> usize {
        for (to, from) in order.enumerate() {
            view.set(to, self.sizes[from], self.strides[from]);
        }
        self.offset
    }

    /// One position along an axis, which is removed. A zero-dim tensor counts as one axis of size 1.
    #[inline]
    pub(crate) fn select(self, op: &'static str, axis: usize, index: usize, view: ViewAxes<'_>) -> Result<usize> {
        expect_index(op, index, axis, self.sizes.get(axis).copied().unwrap_or(1))?;
        self.pick((0..self.sizes.len()).filter(|&at| at != axis), view);
        Ok(if self.sizes.is_empty() { self.offset } else { self.start(axis, index) })
    }

    /// `len` positions along an axis from `start` on.
    #[inline]
    pub(crate) fn narrow(
        self,
        op: &'static str,
        axis: usize,
        start: usize,
        len: usize,
        view: ViewAxes<'_>,
    ) -> Result<usize> {
        expect_range(op, start, len, axis, self.sizes[axis])?;
        Ok(self.slice(axis, Kept { first: start, ..Kept::whole(len) }, view))
    }

    /// The size and stride of an axis reduced to some positions, and the offset of the first one.
    #[inline]
    pub(crate) fn kept(self, axis: usize, kept: Kept) -> (usize, usize, usize) {
        // With a single position, the stride is not used.
        let stride = self.strides[axis].saturating_mul(kept.step);
        (kept.len, stride, kept.first.wrapping_mul(self.strides[axis]))
    }

    /// Keeps some positions of an axis.
    #[inline]
    pub(crate) fn slice(self, axis: usize, kept: Kept, mut view: ViewAxes<'_>) -> usize {
        view.copy(self);
        let (size, stride, start) = self.kept(axis, kept);
        view.set(axis, size, stride);
        self.offset.wrapping_add(start)
    }

    /// Inserts an axis of size 1.
    #[inline]
    pub(crate) fn unsqueeze(self, axis: usize, mut view: ViewAxes<'_>) -> usize {
        view.set(axis, 1, self.inserted_stride(axis));
        for at in 0..self.sizes.len() {
            view.set(at + usize::from(at >= axis), self.sizes[at], self.strides[at]);
        }
        self.offset
    }

    /// Broadcasts axes of size 1, and adds new ones in front. `view.sizes` is given.
    ///
    /// Source: `aten/src/ATen/ExpandUtils.cpp`, `inferExpandGeometry`.
    #[inline]
    pub(crate) fn expand(self, op: &'static str, view: ViewAxes<'_>) -> Result<usize> {
        let (own, to) = (self.sizes, &*view.sizes);
        let (Some(new), true) = (to.len().checked_sub(own.len()), view.strides.len() == to.len()) else {
            return Err(Error::Output { op, result: own.into(), output: to.into() });
        };
        for at in (0..to.len()).rev() {
            let from = at.checked_sub(new).map(|axis| (own[axis], self.strides[axis]));
            view.strides[at] = match from {
                Some((size, stride)) if size == to[at] => stride,
                Some((size, _)) if broadcast_size(size, to[at]) == Some(to[at]) => 0,
                Some(_) => return Err(Error::Output { op, result: own.into(), output: to.into() }),
                // A new axis of size 1 has a row-major stride, unless there are no axes behind it.
                None if to[at] == 1 && !own.is_empty() => to[at + 1].wrapping_mul(view.strides[at + 1]),
                None => 0,
            };
        }
        Ok(self.offset)
    }

    /// The diagonals of the planes of two axes, as a last axis: above the main one for positive `offset`, below it for negative.
    #[inline]
    pub(crate) fn diagonal(self, offset: i64, rows: usize, columns: usize, mut view: ViewAxes<'_>) -> usize {
        // The number of rows and columns before the diagonal.
        let count = |positions: u64| usize::try_from(positions).unwrap_or(usize::MAX);
        let (above, beside) = (count(offset.min(0).unsigned_abs()), count(offset.max(0).unsigned_abs()));
        let len = self.sizes[rows].saturating_sub(above).min(self.sizes[columns].saturating_sub(beside));
        let last = self.sizes.len() - 2;
        for (to, from) in (0..self.sizes.len()).filter(|&axis| axis != rows && axis != columns).enumerate() {
            view.set(to, self.sizes[from], self.strides[from]);
        }
        view.set(last, len, self.strides[rows].wrapping_add(self.strides[columns]));
        if len == 0 {
            return self.offset;
        }
        self.start(rows, above).wrapping_add(beside.wrapping_mul(self.strides[columns]))
    }

    /// Windows of `size` positions along an axis, `step` apart, as a last axis. A zero-dim tensor counts as one axis of size 1.
    #[inline]
    pub(crate) fn unfold(
        self,
        op: &'static str,
        axis: usize,
        size: usize,
        step: usize,
        mut view: ViewAxes<'_>,
    ) -> Result<usize> {
        let whole = self.sizes.get(axis).copied().unwrap_or(1);
        if size > whole {
            return invalid(op, format!("a window of size {size} does not fit axis {axis} of size {whole}"));
        }
        if step == 0 {
            return invalid(op, "windows can't be 0 apart".to_owned());
        }
        view.copy(self);
        view.set(self.sizes.len(), size, self.strides.get(axis).copied().unwrap_or(1));
        if axis < self.sizes.len() {
            let (_, stride, _) = self.kept(axis, Kept { step, ..Kept::whole(whole) });
            view.set(axis, (whole - size) / step + 1, stride);
        }
        Ok(self.offset)
    }
}
