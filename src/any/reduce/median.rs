//! `median` and `nanmedian`, over everything and along an axis. Uses `tensor::reduce::median`.

use crate::any::AnyTensor;
use crate::any::base::as_typed::Rank1;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Value;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::arguments::Order;
use crate::tensor::median_of_all;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The element in the middle, the lower one of two (`torch.median`); NaN if there is one, or `ignores_nan` leaves it out
    /// (`torch.nanmedian`).
    ///
    /// # Errors
    /// If the dtype is neither an integer nor a float, or there are no integers.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![4.0, 1.0, f32::NAN, 2.0]);
    /// assert_eq!((x.median(false)?.to_string(), x.median(true)?.to_string()), ("tensor(nan)".into(), "tensor(2.)".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn median(&self, ignores_nan: bool) -> Result<AnyTensor> {
        let op = if ignores_nan { "nanmedian" } else { "median" };
        if self.is_empty() && self.has_data() && !self.dtype.is_shell() {
            // NaN, as the dtype has it.
            return AnyTensor::scalar_of(op, crate::ScalarValue::Float(f64::NAN), DType::F64)?
                .to(self.dtype)?
                .to_device(self.device());
        }
        let list = self.reshaped(&[self.numel() as i64])?;
        dispatch_dtype!(op, self.dtype, E: Real => {
            median_of_all::<E, Rank1, Dynamic>(op, &list.typed()?, ignores_nan).map(AnyTensor::from)
        })
    }

    /// The elements in the middle along an axis, and where they are: [`median`](Self::median) with `dim`.
    ///
    /// # Errors
    /// If the axis is out of range or empty, or the dtype is neither an integer nor a float.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[3, 1, 2], [6, 5, 4]]);
    /// let (values, places) = x.median_axis(1, false, false)?;
    /// assert_eq!((values.to_string(), places.to_string()), ("tensor([2, 5])".into(), "tensor([2, 1])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn median_axis(&self, dim: i64, keepdim: bool, ignores_nan: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = if ignores_nan { "nanmedian" } else { "median" };
        self.expect_number(op)?;
        self.single(op, Order::Median { ignores_nan }, dim, keepdim)
    }

    #[op(median(input, dim = None, keepdim = false), dtypes = real)]
    fn median_by_name(&self, dim: Option<i64>, keepdim: bool) -> Result<Value> {
        self.median_over(dim, keepdim, false)
    }

    #[op(nanmedian(input, dim = None, keepdim = false), dtypes = real)]
    fn nanmedian_by_name(&self, dim: Option<i64>, keepdim: bool) -> Result<Value> {
        self.median_over(dim, keepdim, true)
    }

    fn median_over(&self, dim: Option<i64>, keepdim: bool, ignores_nan: bool) -> Result<Value> {
        match dim {
            None => self.median(ignores_nan).map(Value::Array),
            Some(dim) => Ok(self.median_axis(dim, keepdim, ignores_nan)?.into()),
        }
    }
}
