//! Elements selected by a mask: `masked_fill`, `masked_select`, `masked_scatter`, `nonzero`.

use crate::any::base::by_width::{common_sizes, signed};
use crate::any::base::operand::same_device;
use crate::any::call::Value;
use crate::any::{AnyOperand, AnyTensor, IntoAny};
use crate::composite::Erased;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::tensor::true_positions;
use castiron_macros::operations;

/// Checks that a mask is bool.
fn mask_of(op: &'static str, mask: &AnyTensor) -> Result<()> {
    if mask.dtype == DType::Bool {
        return Ok(());
    }
    Err(Error::NotAdmitted { op, dtype: mask.dtype, reason: "masks are bool".to_owned() })
}

#[operations]
impl AnyTensor {
    /// The elements, but a value where the mask is true (`torch.masked_fill`). Mask and tensor broadcast; the value is converted.
    ///
    /// # Errors
    /// If the mask is not bool, or the value has axes or does not fit the dtype.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// assert_eq!(x.masked_fill(&x.gt(2)?, 0)?.to_string(), "tensor([1, 2, 0, 0])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(masked_fill(input, mask, value))]
    #[in_place("tensor![1, 2, 3]" "&AnyTensor::from(tensor![true, false, true]), 0" = "[0, 2, 0]")]
    pub fn masked_fill(&self, mask: &AnyTensor, value: impl Into<AnyOperand>) -> Result<AnyTensor> {
        let op = "masked_fill";
        mask_of(op, mask)?;
        same_device(op, self, mask)?;
        AnyTensor::select_by_mask(op, mask, &self.fill_scalar(op, &value.into())?, self)
    }

    /// The elements where the mask is true, in row-major order (`torch.masked_select`). The two broadcast.
    ///
    /// # Errors
    /// If the mask is not bool, shapes do not broadcast, or there are no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// assert_eq!(x.masked_select(&x.gt(2)?)?.to_string(), "tensor([3, 4])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "boolean_index")]
    #[doc(alias = "compress")]
    #[op(masked_select(input, mask), needs_elements)]
    pub fn masked_select(&self, mask: &AnyTensor) -> Result<AnyTensor> {
        let op = "masked_select";
        mask_of(op, mask)?;
        let sizes = common_sizes(op, [self, mask])?;
        self.expanded_to(&sizes)?.masked_elements(op, &mask.expanded_to(&sizes)?)
    }

    /// Consecutive elements of another tensor, where the mask is true (`torch.masked_scatter`).
    ///
    /// # Errors
    /// If the mask is not bool, the dtypes differ, or there are too few elements.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// let y = x.masked_scatter(&x.gt(2)?, &AnyTensor::from(tensor![10, 20]))?;
    /// assert_eq!(y.to_string(), "tensor([ 1,  2, 10, 20])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(masked_scatter(input, mask, source))]
    #[in_place("tensor![0, 0, 0]" "&AnyTensor::from(tensor![true, false, true]), &AnyTensor::from(tensor![5, 6])" = "[5, 0, 6]")]
    pub fn masked_scatter(&self, mask: &AnyTensor, source: &AnyTensor) -> Result<AnyTensor> {
        let op = "masked_scatter";
        mask_of(op, mask)?;
        crate::any::base::by_width::same_dtype(op, self, source)?;
        let sizes = common_sizes(op, [self, mask])?;
        let whole = self.expanded_to(&sizes)?;
        if ![self, mask, source].iter().all(|x| x.has_data()) {
            same_device(op, self, mask)?;
            same_device(op, self, source)?;
            return AnyTensor::meta(&sizes, self.dtype);
        }
        let places = mask.expanded_to(&sizes)?.true_places(op)?;
        let (count, there) = (places.numel(), source.numel());
        if there < count {
            return invalid(op, format!("the mask is true {count} times, but there are {there} elements to write"));
        }
        let from = source.reshape(&[-1])?.narrow(0, 0, count)?;
        whole.reshape(&[whole.numel() as i64])?.scattered(op, 0, &places, &from, false)?.reshaped(&signed(&sizes))
    }

    /// The row-major positions where a bool mask is true.
    fn true_places(&self, op: &'static str) -> Result<AnyTensor> {
        let (buffer, count) = true_positions::<Dynamic>(self.data_as(op)?)?;
        Ok(AnyTensor::fresh(buffer, DType::I64, &[count], &[1]))
    }

    /// For each axis the indices of the elements that are not zero, in row-major order (`torch.nonzero` with `as_tuple`).
    ///
    /// # Errors
    /// If there are no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[0, 7], [8, 0]]);
    /// let [rows, columns] = &x.nonzero_tuple()?[..] else { unreachable!() };
    /// assert_eq!((rows.to_string(), columns.to_string()), ("tensor([0, 1])".into(), "tensor([1, 0])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn nonzero_tuple(&self) -> Result<Vec<AnyTensor>> {
        let rows = self.at_least_1d().nonzero()?;
        (0..rows.sizes[1]).map(|at| rows.select(1, at as i64)).collect()
    }

    /// The indices of the elements that are not zero, in row-major order: a row for each element, a column for each axis (`torch.nonzero`,
    /// `torch.argwhere`).
    ///
    /// # Errors
    /// If there are no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[0, 7], [8, 0]]);
    /// assert_eq!(x.nonzero()?.to_string(), "tensor([[0, 1],\n        [1, 0]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(argwhere(input), needs_elements)]
    pub fn nonzero(&self) -> Result<AnyTensor> {
        let (op, mask) = ("nonzero", self.to(DType::Bool)?);
        mask.data_as::<bool>(op).map(Erased::<bool, Dynamic>::of)?.indices(op).map(IntoAny::into_any)
    }

    #[op(nonzero(input, as_tuple = false), needs_elements)]
    fn nonzero_by_name(&self, as_tuple: bool) -> Result<Value> {
        Ok(if as_tuple { self.nonzero_tuple()?.into() } else { self.nonzero()?.into() })
    }

    /// [`nonzero`](Self::nonzero) with `size` rows, the surplus ones filled with a value (`torch.nonzero_static`).
    ///
    /// # Errors
    /// If there are no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![0, 7, 8]);
    /// assert_eq!(x.nonzero_static(3, -1)?.to_string(), "tensor([[ 1],\n        [ 2],\n        [-1]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nonzero_static(input, size, fill_value = -1), needs_elements)]
    pub fn nonzero_static(&self, size: usize, fill: i64) -> Result<AnyTensor> {
        let rows = self.nonzero()?;
        let kept = rows.narrow(0, 0, size.min(rows.sizes[0]))?;
        let mut rest = self.zeros_like_device(&[size - kept.sizes[0], self.rank()], DType::I64)?;
        rest.fill_(fill)?;
        crate::any::cat(&[kept, rest], 0)
    }
}
