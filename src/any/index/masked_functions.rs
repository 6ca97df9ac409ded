//! Functions under a mask, by name: `masked.softmax` and its kin. What is left out counts as nothing.
//! Source: `torch/masked/_ops.py`. Uses `index::masked`, `scan`, `reduce`.

use crate::any::AnyTensor;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::Result;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The elements, those that the mask leaves out being one value.
    fn under(&self, mask: Option<&AnyTensor>, value: f64) -> Result<AnyTensor> {
        match mask {
            Some(mask) => self.masked_fill(&mask.logical_not()?, ScalarValue::Float(value)),
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
        let kept = match mask {
            Some(mask) => self.masked_fill(&mask.logical_not()?, 0)?,
            None => self.clone(),
        };
        kept.sum(dims, keepdim, dtype)
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

    #[op(masked.amax(input, dim = None, keepdim = false, dtype = _, mask = None), dtypes = float)]
    fn masked_amax_by_name(&self, dims: Option<&[i64]>, keepdim: bool, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.under(mask, f64::NEG_INFINITY)?.amax(dims, keepdim)
    }

    #[op(masked.amin(input, dim = None, keepdim = false, dtype = _, mask = None), dtypes = float)]
    fn masked_amin_by_name(&self, dims: Option<&[i64]>, keepdim: bool, mask: Option<&AnyTensor>) -> Result<AnyTensor> {
        self.under(mask, f64::INFINITY)?.amin(dims, keepdim)
    }

    #[op(masked.prod(input, dim, keepdim = false, dtype = None, mask = None), dtypes = any)]
    fn masked_prod_by_name(
        &self,
        dim: i64,
        keepdim: bool,
        dtype: Option<DType>,
        mask: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let kept = match mask {
            Some(mask) => self.masked_fill(&mask.logical_not()?, 1)?,
            None => self.clone(),
        };
        kept.prod(Some(&[dim]), keepdim, dtype)
    }
}
