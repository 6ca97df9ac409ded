//! `quantile` and `nanquantile`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::AnyOperand;
use crate::any::{AnyTensor, IntoAny};
use crate::composite::Erased;
use crate::composite::statistics::quantile::Quantiles;
use crate::device::{Backend as _, Dynamic};
use crate::error::{Error, Result};
use crate::layout::dims::Dims;
use crate::tensor::Interpolation;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The quantiles `q` of elements along an axis, or of all (`torch.quantile`); `ignores_nan` leaves NaN out (`torch.nanquantile`). `q`
    /// is a scalar, or a list in the dtype of the tensor, which makes a new first axis.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, the axis is out of range, there are no elements, or the dtype is neither `float32` nor `float64`.
    ///
    /// ```
    /// use castiron::{AnyTensor, Interpolation, tensor};
    /// let x = AnyTensor::from(tensor![1.0, 2.0, 4.0]);
    /// assert_eq!(x.quantile(0.75, None, false, Interpolation::Linear, false)?.to_string(), "tensor(3.)");
    /// let shares = AnyTensor::from(tensor![0.0, 0.75]);
    /// assert_eq!(x.quantile(shares, Some(0), false, Interpolation::Lower, false)?.to_string(), "tensor([1., 2.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "percentile")]
    pub fn quantile(
        &self,
        q: impl Into<AnyOperand>,
        dim: Option<i64>,
        keepdim: bool,
        how: Interpolation,
        ignores_nan: bool,
    ) -> Result<AnyTensor> {
        let op = if ignores_nan { "nanquantile" } else { "quantile" };
        let invalid = |reason: String| Err(Error::InvalidArgument { op, reason });
        let q = q.into();
        if let AnyOperand::Array(q) = &q {
            if q.dtype != self.dtype {
                return invalid(format!("`q` must have the dtype of the tensor, {}, got {}", self.dtype, q.dtype));
            }
            if q.rank() > 1 {
                return invalid(format!("`q` is a scalar or a list, got a tensor with {} axes", q.rank()));
            }
        }
        let at = dim.map(|dim| self.axis_from_end(op, dim)).transpose()?;
        dispatch_dtype!(op, self.dtype, E: [f32, f64] => {
            let x = self.as_erased::<E>()?;
            let q = match &q {
                AnyOperand::Number(q) => {
                    Erased::dense(Dynamic::fill::<f64>(Some(x.storage()), q.real_part(), 1)?, Dims::known(&[]))
                }
                AnyOperand::Array(q) => q.as_erased::<E>()?.to::<f64>(op)?.share(),
            };
            x.quantiles(Quantiles { op, how, ignores_nan }, &q, at, keepdim).map(IntoAny::into_any)
        })
    }

    #[op(
        quantile(input, q, dim = None, keepdim = false, interpolation = Interpolation::Linear),
        dtypes = "float32 and float64"
    )]
    fn quantile_by_name(
        &self,
        q: AnyOperand,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: Interpolation,
    ) -> Result<AnyTensor> {
        self.quantile(q, dim, keepdim, interpolation, false)
    }

    #[op(
        nanquantile(input, q, dim = None, keepdim = false, interpolation = Interpolation::Linear),
        dtypes = "float32 and float64"
    )]
    fn nanquantile_by_name(
        &self,
        q: AnyOperand,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: Interpolation,
    ) -> Result<AnyTensor> {
        self.quantile(q, dim, keepdim, interpolation, true)
    }
}
