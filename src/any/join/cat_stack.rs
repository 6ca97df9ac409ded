//! Tensors joined: `cat`, `stack`, `hstack` and others; combinations.

use crate::any::base::operand::promoted;
use crate::any::call::{Bound, Value};
use crate::any::view::views::axis;
use crate::any::{AnyOperand, AnyTensor};
use crate::composite::join::end_to_end;
use crate::dtype::DType;
use crate::dtype::scalar::KindRank;
use crate::error::{Error, Result, invalid, listed, room};
use castiron_macros::operations;

/// The dtype that tensors promote to, or that all of them have: first tensors of one kind promote, then the kinds.
pub(crate) fn promoted_all(op: &'static str, tensors: &[AnyTensor]) -> Result<DType> {
    let both = |a: Option<(KindRank, DType)>, b: (KindRank, DType)| -> Result<Option<(KindRank, DType)>> {
        Ok(Some(match a {
            None => b,
            Some(a) if a.1 == b.1 => (a.0.max(b.0), a.1),
            Some(a) => (a.0.max(b.0), promoted(op, [a, b])?),
        }))
    };
    let of = |kind: KindRank| {
        let all = tensors.iter().map(|tensor| (AnyOperand::from(tensor).kind(), tensor.dtype));
        all.filter(|(own, _)| *own == kind).try_fold(None, both)
    };
    let kinds = [of(KindRank::Dimensioned)?, of(KindRank::ZeroDim)?];
    match kinds.into_iter().flatten().try_fold(None, both)? {
        Some((_, dtype)) => Ok(dtype),
        None => invalid(op, "there are no tensors to join".to_owned()),
    }
}

/// The dtype of tensors that are joined, which are on one device (also those that are zero-dim).
pub(super) fn joined_dtype(op: &'static str, tensors: &[AnyTensor]) -> Result<DType> {
    let dtype = promoted_all(op, tensors)?;
    match tensors.iter().find(|tensor| tensor.device() != tensors[0].device()) {
        None => Ok(dtype),
        Some(other) => {
            let [lhs, rhs] = [&tensors[0], other].map(|tensor| tensor.device_name().to_owned());
            Err(Error::DevicesDiffer { op, lhs, rhs })
        }
    }
}

/// `joined!(tensors, dtype, |pieces| function(pieces))`: tensors converted to a dtype, and joined as elements of its width.
macro_rules! joined {
    ($tensors:expr, $dtype:expr, |$pieces:ident| $run:expr) => {{
        let dtype = $dtype;
        let tensors = crate::error::collected($tensors.iter().map(|tensor| tensor.to(dtype)))?;
        let joined: AnyTensor = crate::dtype::width::of_width!(dtype.itemsize(), W => {
            let $pieces = &crate::error::collected(tensors.iter().map(AnyTensor::as_erased::<W>))?[..];
            $run.map(crate::any::IntoAny::into_any)
        })?;
        Ok(joined.relabelled(dtype))
    }};
}
pub(super) use joined;

pub(super) fn join(op: &'static str, tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
    let dtype = joined_dtype(op, tensors)?;
    // Empty vectors are skipped.
    let at = match tensors.iter().find(|tensor| tensor.shape() != [0]) {
        Some(first) => axis(op, dim, first.rank())?,
        None => 0,
    };
    joined!(tensors, dtype, |pieces| end_to_end::cat(op, pieces, at))
}

/// Joins tensors end to end along an axis (`torch.cat`). All other sizes are the same; dtypes promote; empty vectors are skipped.
///
/// # Errors
/// If there are none, one is zero-dim, or sizes differ.
///
/// ```
/// use castiron::{any, AnyTensor, tensor};
/// let (a, b) = (AnyTensor::from(tensor![[1], [2]]), AnyTensor::from(tensor![[0.5], [0.25]]));
/// assert_eq!(any::cat(&[a, b], 1)?.to_string(), "tensor([[1.0000, 0.5000],\n        [2.0000, 0.2500]])");
/// # Ok::<(), castiron::Error>(())
/// ```
#[doc(alias = "concat")]
#[doc(alias = "concatenate")]
pub fn cat(tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
    join("cat", tensors, dim)
}

/// Joins tensors of one shape along a new axis (`torch.stack`). Dtypes promote.
///
/// # Errors
/// If there are none or shapes differ.
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![1, 2]), AnyTensor::from(tensor![3, 4]));
/// assert_eq!(any::stack(&[a, b], 1)?.to_string(), "tensor([[1, 3],\n        [2, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn stack(tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
    let op = "stack";
    let Some(first) = tensors.first() else {
        return invalid(op, "there are no tensors to join".to_owned());
    };
    let at = axis(op, dim, first.rank() + 1)?;
    let dtype = joined_dtype(op, tensors)?;
    joined!(tensors, dtype, |pieces| end_to_end::stack(op, pieces, at))
}

/// Tensors with axes of size 1 inserted until there are enough.
pub(super) fn raised(tensors: &[AnyTensor], positions: &[i64]) -> Result<Vec<AnyTensor>> {
    let raise = |tensor: &AnyTensor| {
        let missing = positions.get(tensor.rank()..).unwrap_or(&[]);
        missing.iter().try_fold(tensor.clone(), |tensor, &at| tensor.unsqueeze(at))
    };
    tensors.iter().map(raise).collect()
}

/// Joins tensors from left to right (`torch.hstack`): vectors end to end, others along axis 1.
///
/// # Errors
/// As [`cat`].
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![[1], [2]]), AnyTensor::from(tensor![[3], [4]]));
/// assert_eq!(any::hstack(&[a, b])?.to_string(), "tensor([[1, 3],\n        [2, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
#[doc(alias = "column_stack")]
pub fn hstack(tensors: &[AnyTensor]) -> Result<AnyTensor> {
    let pieces = raised(tensors, &[0])?;
    let dim = pieces.first().is_some_and(|first| first.rank() > 1);
    join("hstack", &pieces, i64::from(dim))
}

/// Joins tensors from top to bottom (`torch.vstack`). Vectors count as rows.
///
/// # Errors
/// As [`cat`].
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![1, 2]), AnyTensor::from(tensor![[3, 4]]));
/// assert_eq!(any::vstack(&[a, b])?.to_string(), "tensor([[1, 2],\n        [3, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
#[doc(alias = "row_stack")]
pub fn vstack(tensors: &[AnyTensor]) -> Result<AnyTensor> {
    join("vstack", &raised(tensors, &[0, 0])?, 0)
}

/// Joins tensors from front to back, along axis 2 (`torch.dstack`).
///
/// # Errors
/// As [`cat`].
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![1, 2]), AnyTensor::from(tensor![3, 4]));
/// assert_eq!(any::dstack(&[a, b])?.to_string(), "tensor([[[1, 3],\n         [2, 4]]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn dstack(tensors: &[AnyTensor]) -> Result<AnyTensor> {
    join("dstack", &raised(tensors, &[0, 0, -1])?, 2)
}

/// Joins tensors along axis 1, vectors being columns (`torch.column_stack`).
///
/// # Errors
/// As [`cat`].
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![1, 2]), AnyTensor::from(tensor![3, 4]));
/// assert_eq!(any::column_stack(&[a, b])?.to_string(), "tensor([[1, 3],\n        [2, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn column_stack(tensors: &[AnyTensor]) -> Result<AnyTensor> {
    join("column_stack", &raised(tensors, &[0, -1])?, 1)
}

/// The number of ways to choose `r` of `n`, `r` being at most `n`; `None` if memory cannot address that many elements.
fn ways(n: usize, r: usize) -> Option<usize> {
    // The count at least doubles at each step, so that an overflow ends the loop soon.
    (0..r.min(n - r))
        .try_fold(1_u128, |ways, at| {
            let more = ways.checked_mul((n - at) as u128)? / (at as u128 + 1);
            (more <= isize::MAX as u128).then_some(more)
        })
        .and_then(|ways| usize::try_from(ways).ok())
}

/// `atleast_1d` and others: for one tensor a tensor, for several or a list a list.
fn at_least(args: &Bound<'_>, rank: usize) -> Result<Value> {
    let raised = raised(&args.read::<Vec<AnyTensor>>("*tensors")?, &[0, 0, -1][..rank])?;
    match &raised[..] {
        [one] if !args.is_list("*tensors") => Ok(one.into()),
        _ => Ok(raised.into()),
    }
}

#[operations]
impl AnyTensor {
    #[op(cat(tensors, dim = 0), output = Castable, aliases("concat", "concatenate"))]
    fn cat_by_name(tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
        cat(tensors, dim)
    }

    #[op(stack(tensors, dim = 0), output = Castable)]
    fn stack_by_name(tensors: &[AnyTensor], dim: i64) -> Result<AnyTensor> {
        stack(tensors, dim)
    }

    #[op(hstack(tensors), output = Castable)]
    fn hstack_by_name(tensors: &[AnyTensor]) -> Result<AnyTensor> {
        hstack(tensors)
    }

    #[op(vstack(tensors), output = Castable, aliases("row_stack"))]
    fn vstack_by_name(tensors: &[AnyTensor]) -> Result<AnyTensor> {
        vstack(tensors)
    }

    #[op(dstack(tensors), output = Castable)]
    fn dstack_by_name(tensors: &[AnyTensor]) -> Result<AnyTensor> {
        dstack(tensors)
    }

    #[op(column_stack(tensors), output = Castable)]
    fn column_stack_by_name(tensors: &[AnyTensor]) -> Result<AnyTensor> {
        column_stack(tensors)
    }

    /// All ways to choose `r` elements of a vector in their order, as rows (`torch.combinations`); an element may be chosen several times
    /// if `with_replacement`.
    ///
    /// # Errors
    /// If it is not a vector, or there are too many.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3]);
    /// assert_eq!(x.combinations(2, false)?.to_string(), "tensor([[1, 2],\n        [1, 3],\n        [2, 3]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(combinations(input, r = 2, with_replacement = false))]
    pub fn combinations(&self, r: usize, with_replacement: bool) -> Result<AnyTensor> {
        let op = "combinations";
        if self.rank() != 1 {
            return invalid(op, format!("a vector is wanted, got a tensor of shape {:?}", self.shape()));
        }
        if r == 0 {
            return self.zeros_like_device(&[0], self.dtype);
        }
        let (len, step) = (self.numel(), usize::from(!with_replacement));
        if len == 0 || step > 0 && r > len {
            return self.zeros_like_device(&[0, r], self.dtype);
        }
        let too_large = || Error::TooLarge { op, sizes: [len, r][..].into() };
        let choices = if with_replacement { len.checked_add(r - 1).ok_or_else(too_large)? } else { len };
        let count = ways(choices, r).and_then(|count| count.checked_mul(r)).ok_or_else(too_large)?;
        if self.is_on_gpu() {
            let rows = crate::any::join::combinations::rows_of_positions(self, [len, r, step])?;
            return self.gathered(op, 0, &rows, false)?.reshape(&[-1, r as i64]);
        }
        let mut rows: Vec<i64> = room(count)?;
        // The positions of the first combination, then of each that follows.
        let mut row = listed((0..r).map(|at| at * step))?;
        let last = |at: usize| len - 1 - (r - 1 - at) * step;
        loop {
            rows.extend(row.iter().map(|&at| at as i64));
            let Some(next) = (0..r).rev().find(|&at| row[at] < last(at)) else { break };
            let start = row[next] + 1;
            for (at, position) in row[next..].iter_mut().enumerate() {
                *position = start + at * step;
            }
        }
        let count = rows.len() / r;
        let rows = AnyTensor::of_ints(rows, &[count * r])?;
        let chosen = self.gathered(op, 0, &rows, false)?;
        chosen.reshape(&[count as i64, r as i64])
    }

    #[op(atleast_1d(*tensors))]
    fn at_least_1d_by_name(args: &Bound<'_>) -> Result<Value> {
        at_least(args, 1)
    }

    #[op(atleast_2d(*tensors))]
    fn at_least_2d_by_name(args: &Bound<'_>) -> Result<Value> {
        at_least(args, 2)
    }

    #[op(atleast_3d(*tensors))]
    fn at_least_3d_by_name(args: &Bound<'_>) -> Result<Value> {
        at_least(args, 3)
    }
}
