//! `median` and `nanmedian`, over all elements and along an axis.

use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::call::Value;
use crate::any::{AnyTensor, IntoAny};
use crate::dtype::DType;
use crate::error::Result;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The median, the lower one of two middle elements (`torch.median`); NaN if there is one, unless `ignores_nan` (`torch.nanmedian`).
    ///
    /// # Errors
    /// If the dtype is neither an integer nor a float, or it is an integer and there are no elements.
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
            // NaN in the dtype.
            return AnyTensor::scalar_of(op, crate::ScalarValue::Float(f64::NAN), DType::F64)?
                .to(self.dtype)?
                .to_device(self.device());
        }
        dispatch_dtype!(op, self.dtype, E: Real => {
            let x = self.as_erased::<E>()?;
            (if ignores_nan { x.nanmedian() } else { x.median() }).map(IntoAny::into_any)
        })
    }

    /// The medians along an axis, and their indices: [`median`](Self::median) with `dim`.
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
        let at = self.axis_from_end(op, dim)?;
        dispatch_dtype!(op, self.dtype, E: Real => {
            let x = self.as_erased::<E>()?;
            (if ignores_nan { x.nanmedian_axis(at, keepdim) } else { x.median_axis(at, keepdim) }).map(IntoAny::into_any)
        })
    }

    /// Checks the dtype: `bool` has an order, but no median.
    pub(crate) fn expect_number(&self, op: &'static str) -> Result<()> {
        if self.dtype == DType::Bool { Err(refused(op, self.dtype)) } else { Ok(()) }
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
