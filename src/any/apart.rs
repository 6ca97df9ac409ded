//! Taking apart: views of parts that follow each other along an axis.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use super::AnyTensor;
use super::moves::invalid;
use super::views::axis;
use crate::error::{Result, collected};

impl AnyTensor {
    /// Parts of `size` positions along an axis; the last one may be smaller (`torch.split`).
    ///
    /// # Errors
    /// If the axis is out of range, the size is 0 where the axis' is not, or there is no room for so many parts.
    pub fn split(&self, size: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "split";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to split".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        let own = self.sizes[at];
        if size == 0 && own != 0 {
            return invalid(op, "parts of size 0 do not make up an axis".to_owned());
        }
        let parts = if size == 0 { 1 } else { own.div_ceil(size).max(1) };
        collected((0..parts).map(|part| self.narrow(at as i64, (part * size) as i64, size.min(own - part * size))))
    }

    /// Parts of these sizes along an axis (`torch.split`).
    ///
    /// # Errors
    /// If the axis is out of range or the sizes do not add up to its own.
    pub fn split_with_sizes(&self, sizes: &[usize], dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "split_with_sizes";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to split".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        let sum = sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
        if sum != Some(self.sizes[at]) {
            return invalid(
                op,
                format!("the sizes {sizes:?} do not add up to {}, the size of axis {at}", self.sizes[at]),
            );
        }
        let mut start = 0;
        sizes
            .iter()
            .map(|&size| {
                start += size;
                self.narrow(at as i64, (start - size) as i64, size)
            })
            .collect()
    }

    /// At most so many parts of one size along an axis (`torch.chunk`).
    ///
    /// # Errors
    /// If the axis is out of range or there are to be no parts.
    pub fn chunk(&self, chunks: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "chunk";
        if self.rank() == 0 || chunks == 0 {
            return invalid(op, "at least one axis and one part are needed".to_owned());
        }
        let own = self.sizes[axis(op, dim, self.rank())?];
        let size = own.div_ceil(chunks);
        if size == 0 {
            // PyTorch gives as many empty parts as were asked for.
            return collected((0..chunks).map(|_| self.narrow(dim, 0, 0)));
        }
        self.split(size, dim)
    }

    /// So many parts along an axis, whose sizes differ by 1 at most (`torch.tensor_split`).
    ///
    /// # Errors
    /// If the axis is out of range or there are to be no parts.
    pub fn tensor_split(&self, parts: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "tensor_split";
        if self.rank() == 0 || parts == 0 {
            return invalid(op, "at least one axis and one part are needed".to_owned());
        }
        let own = self.sizes[axis(op, dim, self.rank())?];
        let mut start = 0;
        collected((0..parts).map(|part| {
            let len = own / parts + usize::from(part < own % parts);
            start += len;
            self.narrow(dim, (start - len) as i64, len)
        }))
    }

    /// The parts between these positions along an axis (`torch.tensor_split`).
    ///
    /// # Errors
    /// If the axis is out of range.
    pub fn tensor_split_at(&self, positions: &[i64], dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "tensor_split";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to split".to_owned());
        }
        let ends = positions.iter().map(|&end| Some(end)).chain([None]);
        let mut start = Some(0);
        ends.map(|end| {
            let part = self.slice(dim, start, end, 1);
            start = end;
            part
        })
        .collect()
    }

    /// Every position along an axis, which goes away (`torch.unbind`).
    ///
    /// # Errors
    /// If the axis is out of range.
    pub fn unbind(&self, dim: i64) -> Result<Vec<AnyTensor>> {
        if self.rank() == 0 {
            return invalid("unbind", "a zero-dim tensor has no axis to take apart".to_owned());
        }
        let size = self.sizes[axis("unbind", dim, self.rank())?];
        collected((0..size).map(|at| self.select(dim, at as i64)))
    }
}
