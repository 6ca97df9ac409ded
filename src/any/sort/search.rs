//! `searchsorted`, `bucketize`, `isin`, `one_hot`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::promoted;
use crate::any::{AnyOperand, AnyTensor, IntoAny};
use crate::axis;
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::DType;
use crate::dtype::scalar::KindRank;
use crate::error::{Error, Result, invalid};
use castiron_macros::operations;

/// Whether elements are in the test elements.
fn is_in(elements: &AnyOperand, test: &AnyOperand) -> Result<AnyTensor> {
    let op = "isin";
    let bools = |operand: &AnyOperand| operand.dtype() == DType::Bool;
    if bools(elements) || bools(test) {
        return Err(crate::any::base::dispatch::refused(op, DType::Bool));
    }
    let dtype = promoted(op, [(elements.kind(), elements.dtype()), (test.kind(), test.dtype())])?;
    let tensor = |operand: &AnyOperand| match operand {
        AnyOperand::Array(tensor) => tensor.to(dtype),
        AnyOperand::Number(value) => AnyTensor::scalar_of(op, *value, dtype),
    };
    if let (AnyOperand::Array(elements), AnyOperand::Array(test)) = (elements, test) {
        crate::any::base::operand::same_device(op, elements, test)?;
    }
    let (x, test) = (tensor(elements)?, tensor(test)?);
    if !x.has_data() || !test.has_data() {
        return dispatch_dtype!(op, dtype, E: Real => {
            let _: Option<E> = None;
            AnyTensor::meta(&x.sizes, DType::Bool)
        });
    }
    let device = DynamicBuffer::common_device([x.storage(), test.storage()]);
    let (x, test) = (x.to_device(device)?, test.to_device(device)?);
    dispatch_dtype!(op, dtype, E: Real => x.as_erased::<E>()?.isin(&test.as_erased::<E>()?).map(IntoAny::into_any))
}

#[operations]
impl AnyTensor {
    /// The positions at which values would be inserted to keep the last axis of `self` sorted, before or after equal elements
    /// (`torch.searchsorted`). Values are a tensor or a scalar; dtypes promote. `sorter` has the indices that sort `self`.
    ///
    /// # Errors
    /// If sizes do not match, or the dtypes promote to neither an integer nor a float.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let sorted = AnyTensor::from(tensor![1, 3, 5]);
    /// assert_eq!(sorted.searchsorted(&AnyTensor::from(tensor![0, 3, 9]), false, None)?.to_string(), "tensor([0, 1, 3])");
    /// assert_eq!(sorted.searchsorted(3, true, None)?.to_string(), "tensor(2)");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn searchsorted(
        &self,
        values: impl Into<AnyOperand>,
        right: bool,
        sorter: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let op = "searchsorted";
        let invalid = |reason: String| Err(Error::InvalidArgument { op, reason });
        if self.rank() == 0 {
            return invalid("what is sorted needs an axis".to_owned());
        }
        let sorted = match sorter {
            None => self.clone(),
            Some(sorter) if sorter.dtype != DType::I64 || *sorter.sizes != *self.sizes => {
                let (dtype, sizes) = (sorter.dtype, sorter.shape());
                return invalid(format!("`sorter` must be of int64 and {:?}, got {dtype} and {sizes:?}", self.shape()));
            }
            Some(sorter) => self.resorted(sorter)?,
        };
        let values = values.into();
        let dtype = promoted(op, [(KindRank::Dimensioned, self.dtype), (values.kind(), values.dtype())])?;
        let values = match values {
            AnyOperand::Array(values) => values,
            AnyOperand::Number(value) => {
                if self.rank() != 1 {
                    return invalid("a scalar is looked for in a list".to_owned());
                }
                // Floats are searched among integers without converting these.
                let sorted = if self.dtype == DType::Bool { sorted.to(dtype)? } else { sorted };
                return dispatch_dtype!(op, sorted.dtype, E: Real => {
                    sorted.as_erased::<E>()?.searchsorted_scalar(value, right).map(IntoAny::into_any)
                });
            }
        };
        crate::any::base::operand::same_device(op, self, &values)?;
        let (sorted, values) = (sorted.to(dtype)?, values.to(dtype)?);
        dispatch_dtype!(op, dtype, E: Real => {
            sorted.as_erased::<E>()?.searchsorted(&values.as_erased()?, right).map(IntoAny::into_any)
        })
    }

    #[op(
        searchsorted(sorted_sequence, input, out_int32 = false, right = false, side = "", sorter = None),
        dtypes = real
    )]
    fn searchsorted_by_name(
        &self,
        values: AnyOperand,
        out_int32: bool,
        right: bool,
        side: &str,
        sorter: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let right = match (side, right) {
            ("", right) => right,
            ("left", false) => false,
            ("right", _) => true,
            _ => return invalid("searchsorted", format!("side is left or right, as `right` says, got {side:?}")),
        };
        self.searchsorted(values, right, sorter)?.as_places(out_int32)
    }

    /// Positions as `int64`, or `int32`.
    fn as_places(&self, out_int32: bool) -> Result<AnyTensor> {
        if out_int32 { self.to(DType::I32) } else { Ok(self.clone()) }
    }

    /// The elements at indices along the last axis.
    fn resorted(&self, index: &AnyTensor) -> Result<AnyTensor> {
        let (rows, len) = (self.sizes[..self.rank() - 1].iter().product::<usize>() as i64, self.sizes[self.rank() - 1]);
        let width = match self.dtype.itemsize() {
            1 => DType::U8,
            2 => DType::I16,
            4 => DType::I32,
            _ => DType::I64,
        };
        let (x, index) =
            (self.resolved()?.view_dtype(width)?.reshaped(&[rows, len as i64])?, index.reshaped(&[rows, len as i64])?);
        let found = dispatch_dtype!("searchsorted", width, E: [u8, i16, i32, i64] => {
            let index = index.typed_rank2::<i64, Dynamic>()?;
            x.typed_rank2::<E, Dynamic>()?.try_gather(axis![1], &index).map(AnyTensor::from)
        })?;
        found.view_dtype(self.dtype)?.reshaped(&self.signed_sizes())
    }

    /// The bucket of each element (`torch.bucketize`): the number of boundaries below it, or, if `right`, not above it.
    ///
    /// # Errors
    /// If the boundaries are not a list, or the dtypes promote to neither an integer nor a float.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (x, boundaries) = (AnyTensor::from(tensor![0, 3, 9]), AnyTensor::from(tensor![1, 3, 5]));
    /// assert_eq!(x.bucketize(&boundaries, false)?.to_string(), "tensor([0, 1, 3])");
    /// assert_eq!(x.bucketize(&boundaries, true)?.to_string(), "tensor([0, 2, 3])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "digitize")]
    pub fn bucketize(&self, boundaries: &AnyTensor, right: bool) -> Result<AnyTensor> {
        let op = "bucketize";
        if boundaries.rank() != 1 {
            let reason = format!("boundaries are a list, got a tensor with {} axes", boundaries.rank());
            return Err(Error::InvalidArgument { op, reason });
        }
        boundaries.searchsorted(self, right, None)
    }

    #[op(bucketize(input, boundaries, out_int32 = false, right = false), dtypes = real)]
    fn bucketize_by_name(
        values: AnyOperand,
        boundaries: &AnyTensor,
        out_int32: bool,
        right: bool,
    ) -> Result<AnyTensor> {
        let places = match values {
            AnyOperand::Array(x) => x.bucketize(boundaries, right)?,
            scalar => boundaries.searchsorted(scalar, right, None)?,
        };
        places.as_places(out_int32)
    }

    /// Whether each element is in another tensor (`torch.isin`).
    ///
    /// # Errors
    /// If a dtype is neither an integer nor a float.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3]);
    /// assert_eq!(x.isin(&AnyTensor::from(tensor![3, 1]))?.to_string(), "tensor([ True, False,  True])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn isin(&self, test: impl Into<AnyOperand>) -> Result<AnyTensor> {
        is_in(&self.into(), &test.into())
    }

    #[op(isin(elements, test_elements, assume_unique = _, invert = false), dtypes = real)]
    fn isin_by_name(elements: AnyOperand, test: AnyOperand, invert: bool) -> Result<AnyTensor> {
        let found = is_in(&elements, &test)?;
        if invert { found.logical_not() } else { Ok(found) }
    }

    pub(crate) fn signed_sizes(&self) -> Vec<i64> {
        self.sizes.iter().map(|&size| size as i64).collect()
    }

    /// For each class a vector with a one at its position and zeros elsewhere (`torch.nn.functional.one_hot`), as long as there are
    /// classes: one more than the largest if the number is not given.
    ///
    /// # Errors
    /// If the dtype is not `int64`, a class is negative or not below the number, or the number cannot be inferred from an empty tensor.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![0, 2]);
    /// assert_eq!(x.one_hot(None)?.to_string(), "tensor([[1, 0, 0],\n        [0, 0, 1]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn one_hot(&self, classes: Option<usize>) -> Result<AnyTensor> {
        let op = "one_hot";
        if self.dtype != DType::I64 {
            return Err(Error::NotAdmitted { op, dtype: self.dtype, reason: "classes are int64".to_owned() });
        }
        let classes = match classes {
            Some(classes) => classes,
            None => {
                let largest = self.to_ints(op)?.into_iter().max();
                let Some(largest) = largest else {
                    return invalid(op, "the number of classes can't be told from an empty tensor".to_owned());
                };
                usize::try_from(largest).map_or(0, |largest| largest.saturating_add(1))
            }
        };
        self.as_erased::<i64>()?.one_hot(classes).map(IntoAny::into_any)
    }

    #[op(nn.functional.one_hot(tensor, num_classes = -1), dtypes = "int64", needs_elements)]
    fn one_hot_by_name(&self, classes: i64) -> Result<AnyTensor> {
        self.one_hot(usize::try_from(classes).ok())
    }
}
