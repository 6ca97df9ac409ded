//! Functions under a mask, by name: `masked.softmax` and others. Masked-out elements are ignored.
//! Source: `torch/masked/_ops.py`.

use crate::any::AnyTensor;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The elements, with masked-out ones set to a float.
    fn under(&self, mask: Option<&AnyTensor>, value: f64) -> Result<AnyTensor> {
        match mask {
            Some(mask) => self.masked_fill(&mask.logical_not()?, ScalarValue::Float(value)),
            None => Ok(self.clone()),
        }
    }

    /// The elements, with masked-out ones set to an integer.
    fn filled_out(&self, mask: Option<&AnyTensor>, value: i64) -> Result<AnyTensor> {
        match mask {
            Some(mask) => self.masked_fill(&mask.logical_not()?, value),
            None => Ok(self.clone()),
        }
    }

    #[op(masked.softmax(input, dim, dtype = None, mask = None), dtypes = float)]
    fn masked_softmax_by_name(&self, dim: i64, dtype: Option<DType>, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.under(mask, f64::NEG_INFINITY)?.softmax(dim, dtype)
    }

    #[op(masked.log_softmax(input, dim, dtype = None, mask = None), dtypes = float)]
    fn masked_log_softmax_by_name(
        &self,
        dim: i64,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.under(mask, f64::NEG_INFINITY)?.log_softmax(dim, dtype)
    }

    #[op(masked.softmin(input, dim, dtype = None, mask = None), dtypes = float)]
    fn masked_softmin_by_name(&self, dim: i64, dtype: Option<DType>, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.under(mask, f64::INFINITY)?.neg()?.softmax(dim, dtype)
    }

    #[op(masked.normalize(input, ord, dim, eps = 1e-12, dtype = _, mask = None), dtypes = inexact)]
    fn masked_normalize_by_name(&self, ord: f64, dim: i64, eps: f64, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.under(mask, 0.0)?.normalize(ord, &[dim], eps)
    }

    #[op(masked.logaddexp(input, other, dtype = _, input_mask = None, other_mask = None), dtypes = float)]
    fn masked_logaddexp_by_name(
        &self,
        other: &AnyTensor,
        mask: Option<&AnyTensor>,
        other_mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.under(mask, f64::NEG_INFINITY)?.logaddexp(other.under(other_mask, f64::NEG_INFINITY)?)
    }

    #[op(masked.sum(input, dim = None, keepdim = false, dtype = None, mask = None), dtypes = any)]
    fn masked_sum_by_name(
        &self,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.filled_out(mask, 0)?.sum(dims, keepdim, dtype)
    }

    #[op(masked.mean(input, dim = None, keepdim = false, dtype = None, mask = None), dtypes = inexact)]
    fn masked_mean_by_name(
        &self,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let Some(mask) = mask else { return self.mean(dims, keepdim, dtype) };
        let sum = self.masked_sum_by_name(dims, keepdim, dtype, Some(mask))?;
        let sizes = crate::any::base::by_width::signed(self.shape());
        sum.div(mask.to(DType::Bool)?.expand(&sizes)?.sum(dims, keepdim, None)?)
    }

    #[op(masked.amax(input, dim = None, keepdim = false, dtype = _, mask = None), dtypes = real)]
    fn masked_amax_by_name(&self, dims: Option<&[i64]>, keepdim: bool, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.beyond(mask, true)?.amax(dims, keepdim)
    }

    #[op(masked.amin(input, dim = None, keepdim = false, dtype = _, mask = None), dtypes = real)]
    fn masked_amin_by_name(&self, dims: Option<&[i64]>, keepdim: bool, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.beyond(mask, false)?.amin(dims, keepdim)
    }

    #[op(masked.prod(input, dim = None, keepdim = false, dtype = None, mask = None), dtypes = any)]
    fn masked_prod_by_name(
        &self,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.filled_out(mask, 1)?.prod(dims, keepdim, dtype)
    }

    /// The elements, with masked-out ones set to the smallest or the largest number of the dtype.
    fn beyond(&self, mask: Option<&AnyTensor>, is_least: bool) -> Result<AnyTensor> {
        let Some(info) = self.dtype.iinfo() else {
            return self.under(mask, if is_least { f64::NEG_INFINITY } else { f64::INFINITY });
        };
        let Some(mask) = mask else { return Ok(self.clone()) };
        self.masked_fill(&mask.logical_not()?, ScalarValue::Int(if is_least { info.min } else { info.max }))
    }

    /// The index is a number of the input's dtype, as in PyTorch.
    #[op(masked.argmax(input, dim = None, keepdim = false, dtype = None, mask = None), dtypes = real)]
    fn masked_argmax_by_name(
        &self,
        dim: Option<i64>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.beyond(mask, true)?.argmax(dim, keepdim)?.to(dtype.unwrap_or(self.dtype))
    }

    #[op(masked.argmin(input, dim = None, keepdim = false, dtype = None, mask = None), dtypes = real)]
    fn masked_argmin_by_name(
        &self,
        dim: Option<i64>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.beyond(mask, false)?.argmin(dim, keepdim)?.to(dtype.unwrap_or(self.dtype))
    }

    #[op(masked.cumsum(input, dim, dtype = None, mask = None), dtypes = any)]
    fn masked_cumsum_by_name(&self, dim: i64, dtype: Option<DType>, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.filled_out(mask, 0)?.cumsum(dim, Some(dtype.unwrap_or(self.dtype)))
    }

    #[op(masked.cumprod(input, dim, dtype = None, mask = None), dtypes = any)]
    fn masked_cumprod_by_name(&self, dim: i64, dtype: Option<DType>, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.filled_out(mask, 1)?.cumprod(dim, Some(dtype.unwrap_or(self.dtype)))
    }

    #[op(masked.logsumexp(input, dim = None, keepdim = false, dtype = None, mask = None), dtypes = any)]
    fn masked_logsumexp_by_name(
        &self,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let all: Vec<i64> = (0..self.rank() as i64).collect();
        let kept = self.beyond(mask, true)?;
        kept.logsumexp(Some(dims.unwrap_or(&all)), keepdim)?.to(dtype.unwrap_or(self.dtype))
    }

    #[op(masked.norm(input, ord = 2.0, dim = None, keepdim = false, dtype = None, mask = None), dtypes = inexact)]
    fn masked_norm_by_name(
        &self,
        ord: f64,
        dims: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let kept = self.under(mask, if ord == f64::NEG_INFINITY { f64::INFINITY } else { 0.0 })?;
        let kept = dtype.map_or_else(|| Ok(kept.clone()), |dtype| kept.to(dtype))?;
        kept.vector_norm(ord, dims, keepdim)
    }

    /// If everything is masked out the median is NaN, which integers do not have.
    #[op(masked.median(input, dim = -1, keepdim = false, dtype = None, mask = None), dtypes = real)]
    fn masked_median_by_name(
        &self,
        dim: i64,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        if self.dtype.is_floating_point() {
            return Ok(self.under(mask, f64::NAN)?.median_axis(dim, keepdim, true)?.0);
        }
        let median = self.to(DType::F32)?.under(mask, f64::NAN)?.median_axis(dim, keepdim, true)?.0;
        if median.has_data() && median.isnan()?.any(None, false)?.item()? == ScalarValue::Bool(true) {
            return invalid("masked.median", "where everything is left out integers have no median".to_owned());
        }
        median.to(dtype.unwrap_or(self.dtype))
    }

    #[op(masked.var(input, dim = None, unbiased = None, correction = None, keepdim = false, dtype = None, mask = None), dtypes = numeric)]
    fn masked_var_by_name(
        &self,
        dims: Option<&[i64]>,
        unbiased: Option<bool>,
        correction: Option<f64>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        if unbiased.is_some() && correction.is_some() {
            return invalid("masked.var", "`unbiased` and `correction` say the same".to_owned());
        }
        let correction = correction.unwrap_or(if unbiased == Some(false) { 0.0 } else { 1.0 });
        let is_inexact = self.dtype.is_floating_point() || self.dtype.is_complex();
        let dtype = dtype.unwrap_or(if is_inexact { self.dtype } else { DType::F32 });
        let computed = if dtype.is_floating_point() || dtype.is_complex() { dtype } else { DType::F32 };
        let sizes = crate::any::base::by_width::signed(self.shape());
        let mask = mask.map(|mask| mask.to(DType::Bool)?.expand(&sizes)).transpose()?;
        let total = self.masked_sum_by_name(dims, true, Some(dtype), mask.as_ref())?;
        let count = match &mask {
            Some(mask) => mask.sum(dims, true, None)?,
            None => {
                let each = self.numel().checked_div(total.numel()).unwrap_or(0);
                self.scalar_on_device("masked.var", ScalarValue::Int(each as i128), DType::I64)?
                    .expanded_to(total.shape())?
            }
        };
        let off = self.sub(total.div(&count)?)?;
        let squares = off.mul(off.conj()?)?.masked_sum_by_name(dims, keepdim, Some(computed), mask.as_ref())?;
        let count = count.reshape(&crate::any::base::by_width::signed(squares.shape()))?;
        let count = count.to(computed.to_real())?.sub(correction)?.clamp_min(0)?;
        squares.div(count)?.to(dtype)
    }

    #[op(masked.std(input, dim = None, unbiased = None, correction = None, keepdim = false, dtype = None, mask = None), dtypes = numeric)]
    fn masked_std_by_name(
        &self,
        dims: Option<&[i64]>,
        unbiased: Option<bool>,
        correction: Option<f64>,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        self.masked_var_by_name(dims, unbiased, correction, keepdim, dtype, mask)?.sqrt()
    }
}
