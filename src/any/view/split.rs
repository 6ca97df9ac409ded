//! Taking apart: views of parts that follow each other along an axis.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.
//! Uses `layout`.

use crate::any::AnyTensor;
use crate::error::{Result, collected};
use crate::layout::parts;
use core::ops::Range;

impl AnyTensor {
    /// The parts of an axis that are given as ranges.
    fn narrowed(&self, axis: usize, parts: impl Iterator<Item = Range<usize>>) -> Result<Vec<AnyTensor>> {
        let op = "narrow";
        let part = |part: Range<usize>| {
            self.viewed_by(op, self.rank(), |own, view| own.narrow(op, axis, part.start, part.len(), view))
        };
        collected(parts.map(part))
    }

    /// Parts of `size` positions along an axis; the last one may be smaller (`torch.split`).
    ///
    /// # Errors
    /// If the axis is out of range, the size is 0 where the axis' is not, or there is no room for so many parts.
    pub fn split(&self, size: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "split";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::split(op, own, size)?)
    }

    /// Parts of these sizes along an axis (`torch.split`).
    ///
    /// # Errors
    /// If the axis is out of range or the sizes do not add up to its own.
    pub fn split_with_sizes(&self, sizes: &[usize], dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "split_with_sizes";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::of_sizes(op, at, own, sizes)?)
    }

    /// At most so many parts of one size along an axis (`torch.chunk`).
    ///
    /// # Errors
    /// If the axis is out of range or there are to be no parts.
    pub fn chunk(&self, chunks: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "chunk";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::chunk(op, own, chunks)?)
    }

    /// So many parts along an axis, whose sizes differ by 1 at most (`torch.tensor_split`).
    ///
    /// # Errors
    /// If the axis is out of range or there are to be no parts.
    pub fn tensor_split(&self, count: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "tensor_split";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::sections(op, own, count)?)
    }

    /// The parts between these positions along an axis (`torch.tensor_split`).
    ///
    /// # Errors
    /// If the axis is out of range.
    pub fn tensor_split_at(&self, positions: &[i64], dim: i64) -> Result<Vec<AnyTensor>> {
        let (at, own) = self.axis_of("tensor_split", dim, "split")?;
        self.narrowed(at, parts::at_positions(own, positions.iter().copied()))
    }

    /// Every position along an axis, which goes away (`torch.unbind`).
    ///
    /// # Errors
    /// If the axis is out of range.
    pub fn unbind(&self, dim: i64) -> Result<Vec<AnyTensor>> {
        let (_, size) = self.axis_of("unbind", dim, "take apart")?;
        collected((0..size).map(|at| self.select(dim, at as i64)))
    }
}
