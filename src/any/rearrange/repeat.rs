//! `repeat_interleave` by name, and the axis and counts that it takes.

use crate::any::AnyTensor;
use crate::any::call::{Bound, Value};
use crate::any::view::views::axis;
use crate::composite::Axis;
use crate::error::{Result, invalid, listed};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The axis along which positions are repeated, of a tensor with at least `least` axes; without one, all elements in row-major order.
    pub(crate) fn repeated_axis(&self, dim: Option<i64>, least: usize) -> Result<(AnyTensor, Axis)> {
        let op = "repeat_interleave";
        let (x, dim) = match dim {
            None => (self.reshape(&[-1])?, 0),
            Some(dim) => {
                self.expect_rank(op, least)?;
                (self.at_least_1d(), dim)
            }
        };
        let at = x.axis_from_end(op, dim)?;
        Ok((x, at))
    }

    /// [`repeated_axis`](Self::repeated_axis) with a count for each position.
    pub(crate) fn repeated_by(&self, repeats: &AnyTensor, dim: Option<i64>) -> Result<(AnyTensor, AnyTensor, Axis)> {
        let op = "repeat_interleave";
        if repeats.rank() > 1 {
            return invalid(op, format!("a list of counts is wanted, got a tensor of shape {:?}", repeats.shape()));
        }
        let (counts, (x, at)) = (repeats.as_index(op, true)?.at_least_1d(), self.repeated_axis(dim, 0)?);
        let counts = if counts.numel() == 1 { counts.expanded_to(&[x.sizes[at.0]])? } else { counts };
        Ok((x, counts, at))
    }

    /// Without `repeats` the input is the counts, and positions are repeated.
    #[op(repeat_interleave(input, repeats, dim, output_size))]
    fn repeat_interleave_by_name(args: &Bound<'_>) -> Result<Value> {
        let (input, dim) = (args.tensor("input")?, args.read("dim")?);
        let result = match args.get("repeats") {
            None if input.is_on_gpu() => {
                let positions = crate::any::join::combinations::count_up(input, input.numel())?;
                positions.to(input.dtype)?.repeat_interleave_by(input, None)?
            }
            None => {
                let positions = AnyTensor::of_ints(listed(0..input.numel() as i64)?, &[input.numel()])?;
                positions.to_device(input.device())?.to(input.dtype)?.repeat_interleave_by(input, None)?
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
