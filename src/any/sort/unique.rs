//! `unique` and `unique_consecutive` by name, and the latter along an axis.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::{Bound, Value};
use crate::any::{AnyTensor, IntoAny};
use crate::composite::Axis;
use crate::error::{Error, Result};
use castiron_macros::operations;

/// Distinct elements, the inverse indices, and the counts; those not requested are empty.
type Distinct = (AnyTensor, AnyTensor, AnyTensor);

/// Whether inverse indices and counts are requested.
fn wanted(args: &Bound<'_>) -> Result<[bool; 2]> {
    Ok([args.read_or("return_inverse", || false)?, args.read_or("return_counts", || false)?])
}

/// The requested results: one, or a list.
fn asked_for((values, inverse, counts): Distinct, wanted: [bool; 2]) -> Value {
    let mut results = vec![values];
    results.extend(wanted[0].then_some(inverse));
    results.extend(wanted[1].then_some(counts));
    if results.len() == 1 { results.remove(0).into() } else { results.into() }
}

#[operations]
impl AnyTensor {
    #[op(unique(input, sorted, return_inverse, return_counts, dim), dtypes = ordered, needs_elements)]
    fn unique_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, wanted) = (args.tensor("input")?, wanted(args)?);
        let found = match args.read::<Option<i64>>("dim")? {
            None => dispatch_dtype!("unique", x.dtype, E: Ordered => {
                x.as_erased::<E>()?.distinct(wanted).map(IntoAny::into_any)
            }),
            Some(dim) => x.unique_axis(dim),
        };
        Ok(asked_for(found?, wanted))
    }

    #[op(unique_consecutive(input, return_inverse, return_counts, dim), dtypes = ordered, needs_elements)]
    fn unique_consecutive_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, wanted) = (args.tensor("input")?, wanted(args)?);
        let found = match args.read::<Option<i64>>("dim")? {
            None => dispatch_dtype!("unique_consecutive", x.dtype, E: Ordered => {
                x.as_erased::<E>()?.consecutive(wanted).map(IntoAny::into_any)
            }),
            Some(dim) => x.consecutive_along(dim, wanted),
        };
        Ok(asked_for(found?, wanted))
    }

    /// `unique_consecutive` of slices along an axis (`torch.unique_consecutive(dim=…)`).
    ///
    /// # Errors
    /// As [`unique_axis`](Self::unique_axis).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (columns, _, counts) = AnyTensor::from(tensor![[1, 1, 2], [3, 3, 4]]).unique_consecutive_axis(1)?;
    /// assert_eq!(columns.to_string(), "tensor([[1, 2],\n        [3, 4]])");
    /// assert_eq!(counts.to_string(), "tensor([2, 1])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn unique_consecutive_axis(&self, dim: i64) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        self.consecutive_along(dim, [true; 2])
    }

    fn consecutive_along(&self, dim: i64, wanted: [bool; 2]) -> Result<Distinct> {
        let op = "unique_consecutive";
        let at = self.sliced(op, dim)?;
        dispatch_dtype!(op, self.dtype, E: Ordered => {
            self.as_erased::<E>()?.consecutive_slices(at, wanted).map(IntoAny::into_any)
        })
    }

    /// The axis, checked.
    pub(crate) fn sliced(&self, op: &'static str, dim: i64) -> Result<Axis> {
        if self.rank() == 0 {
            return Err(Error::InvalidArgument { op, reason: "a zero-dim tensor has no slices".to_owned() });
        }
        self.axis_from_end(op, dim)
    }
}
