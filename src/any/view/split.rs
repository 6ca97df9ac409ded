//! Splitting: views of consecutive parts along an axis.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use crate::any::AnyTensor;
use crate::any::call::{Argument, Bound, Value};
use crate::any::view::views::axis;
use crate::dtype::DType;
use crate::error::{Error, Result, collected, invalid};
use crate::layout::parts;
use castiron_macros::operations;
use core::ops::Range;

/// The positions at which an axis is split, or the number of parts: a list or a vector of `int64`, or a number.
enum Sections {
    At(Vec<i64>),
    Count(usize),
}

impl<'a> Argument<'a> for Sections {
    fn read(args: &Bound<'a>, name: &str) -> Result<Self> {
        match args.value(name)? {
            Value::List(_) => args.read(name).map(Sections::At),
            Value::Array(positions) if positions.dtype() != DType::I64 => {
                let reason = "positions and numbers of parts are int64".to_owned();
                Err(Error::NotAdmitted { op: args.op, dtype: positions.dtype(), reason })
            }
            Value::Array(positions) if positions.rank() == 1 => positions.to_ints(args.op).map(Sections::At),
            _ => args.read(name).map(Sections::Count),
        }
    }
}

#[operations]
impl AnyTensor {
    /// The parts of an axis given as ranges.
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
    /// If the axis is out of range, the size is 0 where the axis' is not, or memory cannot hold a list of the parts.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// let parts = x.split(3, 0)?;
    /// assert_eq!(parts.iter().map(AnyTensor::numel).collect::<Vec<_>>(), [3, 1]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(unsafe_split(input, split_size, dim = 0))]
    #[parts_mut]
    pub fn split(&self, size: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "split";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::split(op, own, size)?)
    }

    /// By name, one size or a list.
    #[op(split(input, split_size_or_sections, dim))]
    fn split_by_name(args: &Bound<'_>) -> Result<Value> {
        let (input, dim, sizes) = (args.tensor("input")?, args.read_or("dim", || 0)?, "split_size_or_sections");
        Ok(match args.value(sizes)? {
            Value::List(_) => input.split_with_sizes(&args.read::<Vec<usize>>(sizes)?, dim)?.into(),
            _ => input.split(args.read(sizes)?, dim)?.into(),
        })
    }

    /// Parts of these sizes along an axis (`torch.split`).
    ///
    /// # Errors
    /// If the axis is out of range or the sizes do not add up to its size.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// let parts = x.split_with_sizes(&[1, 3], 0)?;
    /// assert_eq!(parts[1].to_string(), "tensor([2, 3, 4])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(split_with_sizes(input, split_sizes, dim = 0))]
    #[parts_mut]
    pub fn split_with_sizes(&self, sizes: &[usize], dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "split_with_sizes";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::of_sizes(op, at, own, sizes)?)
    }

    /// At most `chunks` parts of equal size along an axis; the last one may be smaller (`torch.chunk`).
    ///
    /// # Errors
    /// If the axis is out of range or `chunks` is 0.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// assert_eq!(x.chunk(2, 0)?[1].to_string(), "tensor([3, 4])");
    /// assert_eq!(x.chunk(3, 0)?.len(), 2); // of two elements each
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(chunk(input, chunks, dim = 0))]
    #[op(unsafe_chunk(input, chunks, dim = 0))]
    #[parts_mut]
    pub fn chunk(&self, chunks: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "chunk";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::chunk(op, own, chunks)?)
    }

    /// `count` parts along an axis, whose sizes differ by 1 at most (`torch.tensor_split`).
    ///
    /// # Errors
    /// If the axis is out of range or `count` is 0.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// let parts = x.tensor_split(3, 0)?;
    /// assert_eq!(parts.iter().map(AnyTensor::numel).collect::<Vec<_>>(), [2, 1, 1]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[parts_mut]
    pub fn tensor_split(&self, count: usize, dim: i64) -> Result<Vec<AnyTensor>> {
        let op = "tensor_split";
        let (at, own) = self.axis_of(op, dim, "split")?;
        self.narrowed(at, parts::sections(op, own, count)?)
    }

    /// The parts of an axis split at these positions (`torch.tensor_split`).
    ///
    /// # Errors
    /// If the axis is out of range.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// let parts = x.tensor_split_at(&[1, -1], 0)?;
    /// assert_eq!(parts[1].to_string(), "tensor([2, 3])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn tensor_split_at(&self, positions: &[i64], dim: i64) -> Result<Vec<AnyTensor>> {
        let (at, own) = self.axis_of("tensor_split", dim, "split")?;
        self.narrowed(at, parts::at_positions(own, positions.iter().copied()))
    }

    #[op(tensor_split(input, indices_or_sections, dim = 0))]
    fn tensor_split_by_name(&self, sections: Sections, dim: i64) -> Result<Vec<AnyTensor>> {
        axis("tensor_split", dim, self.rank())?;
        self.expect_rank("tensor_split", 1)?;
        match sections {
            Sections::At(positions) => self.tensor_split_at(&positions, dim),
            Sections::Count(count) => self.tensor_split(count, dim),
        }
    }

    #[op(hsplit(input, indices_or_sections))]
    fn hsplit_by_name(&self, sections: Sections) -> Result<Vec<AnyTensor>> {
        self.expect_rank("hsplit", 1)?;
        self.split_evenly("hsplit", sections, usize::from(self.rank() > 1))
    }

    #[op(vsplit(input, indices_or_sections))]
    fn vsplit_by_name(&self, sections: Sections) -> Result<Vec<AnyTensor>> {
        self.expect_rank("vsplit", 2)?;
        self.split_evenly("vsplit", sections, 0)
    }

    #[op(dsplit(input, indices_or_sections))]
    fn dsplit_by_name(&self, sections: Sections) -> Result<Vec<AnyTensor>> {
        self.expect_rank("dsplit", 3)?;
        self.split_evenly("dsplit", sections, 2)
    }

    /// [`tensor_split`](Self::tensor_split) into parts of equal size.
    fn split_evenly(&self, op: &'static str, sections: Sections, axis: usize) -> Result<Vec<AnyTensor>> {
        let (size, dim) = (self.sizes[axis], axis as i64);
        match sections {
            Sections::At(positions) => self.tensor_split_at(&positions, dim),
            Sections::Count(count) if count == 0 || !size.is_multiple_of(count) => {
                invalid(op, format!("{count} parts of one size do not make up the {size} of axis {axis}"))
            }
            Sections::Count(count) => self.tensor_split(count, dim),
        }
    }

    /// A view of every position along an axis, which is removed (`torch.unbind`).
    ///
    /// # Errors
    /// If the axis is out of range.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.unbind(0)?[1].to_string(), "tensor([4, 5, 6])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(unbind(input, dim = 0))]
    #[parts_mut]
    pub fn unbind(&self, dim: i64) -> Result<Vec<AnyTensor>> {
        let (_, size) = self.axis_of("unbind", dim, "take apart")?;
        collected((0..size).map(|at| self.select(dim, at as i64)))
    }
}
