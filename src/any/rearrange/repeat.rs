//! `repeat`, `tile`, `repeat_interleave`: repeated elements.

use crate::any::AnyTensor;
use crate::any::base::by_width::invalid;
use crate::any::call::{Bound, Value};
use crate::any::view::views::axis;
use crate::axis;
use crate::device::Dynamic;
use crate::dtype::Element;
use crate::dtype::width::of_width;
use crate::error::{Error, Result, listed};
use crate::tensor::repeated_elements;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    fn repeated(&self, op: &'static str, counts: &[usize]) -> Result<AnyTensor> {
        let rank = self.rank().max(counts.len());
        crate::any::Dims::new(op, &vec![0; rank])?;
        let count = |at: usize| (at + counts.len()).checked_sub(rank).map_or(1, |at| counts[at]);
        let own = |at: usize| (at + self.rank()).checked_sub(rank).map_or(1, |at| self.sizes[at]);
        let too_large = || Error::TooLarge { op, sizes: counts.into() };
        let sizes = (0..rank).map(|at| own(at).checked_mul(count(at)).ok_or_else(too_large));
        let sizes = sizes.collect::<Result<Vec<usize>>>()?;
        self.allocated_like(
            op,
            &sizes,
            self.dtype,
            || of_width!(self.dtype.itemsize(), W => Ok(repeated_elements::<W, Dynamic>(op, self.data_as(op)?, rank, counts)?.0)),
        )
    }

    /// The whole tensor repeated along each axis (`torch.Tensor.repeat`); additional counts make new axes in front.
    ///
    /// # Errors
    /// If there are fewer counts than axes, or the result is too large.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert_eq!(x.repeat(&[2, 2])?.to_string(), "tensor([[1, 2, 1, 2],\n        [1, 2, 1, 2]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "tile")]
    #[op(repeat(input, *repeats))]
    pub fn repeat(&self, counts: &[usize]) -> Result<AnyTensor> {
        if counts.len() < self.rank() {
            return invalid("repeat", format!("{} counts are too few for {} axes", counts.len(), self.rank()));
        }
        self.repeated("repeat", counts)
    }

    /// [`repeat`](Self::repeat) where fewer counts stand for the last axes (`torch.tile`).
    ///
    /// # Errors
    /// If the result is too large.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert_eq!(x.tile(&[2])?.to_string(), "tensor([[1, 2, 1, 2],\n        [3, 4, 3, 4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(tile(input, *dims))]
    pub fn tile(&self, counts: &[usize]) -> Result<AnyTensor> {
        self.repeated("tile", counts)
    }

    /// The axis along which positions are repeated: without one, all elements in row-major order.
    fn interleaved(
        &self,
        dim: Option<i64>,
        run: impl FnOnce(&AnyTensor, usize) -> Result<AnyTensor>,
    ) -> Result<AnyTensor> {
        let (x, dim) = match dim {
            None => (self.reshape(&[-1])?, 0),
            Some(dim) => (self.at_least_1d(), dim),
        };
        let at = axis("repeat_interleave", dim, x.rank())?;
        let result = run(&x.as_three_axes(at)?, at)?;
        x.with_axis_restored(at, result.relabelled(self.dtype))
    }

    /// Each position along an axis repeated `times` times (`torch.repeat_interleave`); without an axis each element in row-major order.
    ///
    /// # Errors
    /// If the axis is out of range, or the result is too large.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert_eq!(x.repeat_interleave(2, None)?.to_string(), "tensor([1, 1, 2, 2, 3, 3, 4, 4])");
    /// assert_eq!(x.repeat_interleave(2, Some(1))?.to_string(), "tensor([[1, 1, 2, 2],\n        [3, 3, 4, 4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "repeat")]
    pub fn repeat_interleave(&self, times: usize, dim: Option<i64>) -> Result<AnyTensor> {
        if dim.is_some() {
            self.expect_rank("repeat_interleave", 1)?;
        }
        self.interleaved(dim, |cube, _| {
            of_width!(self.dtype.itemsize(), W => {
                let cube = cube.relabelled(W::DTYPE).typed_rank3::<W, Dynamic>()?;
                Ok(AnyTensor::from(cube.try_repeat_interleave_sized(axis![1], times)?))
            })
        })
    }

    /// Each position along an axis repeated by its own count, or all by one count (`torch.repeat_interleave`).
    ///
    /// # Errors
    /// If the number of counts does not match, one is negative, their dtype is neither `int64` nor `int32`, or there are no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![5, 6, 7]);
    /// let y = x.repeat_interleave_by(&AnyTensor::from(tensor![2, 0, 1]), None)?;
    /// assert_eq!(y.to_string(), "tensor([5, 5, 7])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn repeat_interleave_by(&self, repeats: &AnyTensor, dim: Option<i64>) -> Result<AnyTensor> {
        let op = "repeat_interleave";
        if repeats.rank() > 1 {
            return invalid(op, format!("a list of counts is wanted, got a tensor of shape {:?}", repeats.shape()));
        }
        let repeats = repeats.as_index(op, true)?.at_least_1d();
        self.interleaved(dim, |cube, _| {
            let repeats = if repeats.numel() == 1 { repeats.expanded_to(&[cube.sizes[1]])? } else { repeats.clone() };
            of_width!(self.dtype.itemsize(), W => {
                let cube = cube.relabelled(W::DTYPE).typed_rank3::<W, Dynamic>()?;
                Ok(AnyTensor::from(cube.try_repeat_interleave_by(axis![1], &repeats.typed_rank1::<i64, Dynamic>()?)?))
            })
        })
    }

    /// Without `repeats` the input is the counts, and positions are repeated.
    #[op(repeat_interleave(input, repeats, dim, output_size))]
    fn repeat_interleave_by_name(args: &Bound<'_>) -> Result<Value> {
        let (input, dim) = (args.tensor("input")?, args.read("dim")?);
        let result = match args.get("repeats") {
            None if input.is_on_gpu() => {
                crate::any::join::combinations::count_up(input, input.numel())?.repeat_interleave_by(input, None)?
            }
            None => {
                let positions = AnyTensor::of_ints(listed(0..input.numel() as i64)?, &[input.numel()])?;
                positions.to_device(input.device())?.repeat_interleave_by(input, None)?
            }
            Some(Value::Array(repeats)) => input.repeat_interleave_by(repeats, dim)?,
            Some(_) => input.repeat_interleave(args.read("repeats")?, dim)?,
        };
        if let (Some(dim), Some(size)) = (dim, args.read::<Option<i64>>("output_size")?) {
            let found = result.sizes[axis(args.op, dim, result.rank())?];
            if found as i64 != size {
                return args.refused(format!("output_size is {size}, but there are {found} positions"));
            }
        }
        Ok(result.into())
    }
}
