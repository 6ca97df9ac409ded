//! Statistics of samples: `cov`, `corrcoef`, `bincount`.

use crate::any::base::dispatch::{dispatch_dtype, is_integer, refused};
use crate::any::base::operand::{AnyOperand, same_device};
use crate::any::{AnyTensor, IntoAny};
use crate::device::{AnyDevice, Dynamic};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, default_dtype};
use crate::error::{Error, Result, invalid, room};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Covariances of variables, each a row of observations, with optional frequencies and weights (`torch.cov`).
    ///
    /// # Errors
    /// If there are more than two axes, the dtype is `bool`, or weights are not lists with one element for each observation.
    #[op(cov(input, correction = 1, fweights = None, aweights = None), dtypes = numeric)]
    pub fn cov(&self, correction: i64, counts: Option<&AnyTensor>, weights: Option<&AnyTensor>) -> Result<AnyTensor> {
        let op = "cov";
        if self.rank() > 2 {
            return invalid(op, format!("a matrix is wanted, got a tensor with {} axes", self.rank()));
        }
        if self.dtype == DType::Bool {
            return Err(refused(op, self.dtype));
        }
        let x = if self.rank() < 2 { self.reshaped(&[1, self.numel() as i64])? } else { self.clone() };
        let observations = x.sizes[1];
        for weight in [counts, weights].into_iter().flatten() {
            if weight.rank() > 1 || weight.numel() != observations {
                let expected = format!("[{observations}]");
                return Err(Error::Shape { op, expected, found: weight.shape().into() });
            }
        }
        if let Some(counts) = counts
            && !is_integer(counts.dtype)
        {
            return Err(refused(op, counts.dtype));
        }
        if let Some(weights) = weights
            && (!weights.dtype.is_floating_point() || weights.dtype.is_shell())
        {
            return Err(refused(op, weights.dtype));
        }
        let w = match (counts, weights) {
            (Some(counts), Some(weights)) => Some(counts.mul(weights)?),
            (one, other) => one.or(other).cloned(),
        };
        x.expect_memory()?;
        let result = crate::any::checked_numel(op, &[x.sizes[0]; 2], x.dtype)?;
        room::<u8>(result.saturating_mul(x.dtype.itemsize()))?;
        if w.is_none() {
            let dtype = if is_integer(x.dtype) { default_dtype() } else { x.dtype };
            let x = x.to(dtype)?;
            return dispatch_dtype!(op, dtype, E: Inexact => {
                x.as_erased::<E>()?.cov::<E>(correction.into()).map(IntoAny::into_any)
            })?
            .squeeze(None);
        }
        let weighted = |x: &AnyTensor| w.as_ref().map_or_else(|| Ok(x.clone()), |w| x.mul(w));
        let total: AnyOperand = match &w {
            Some(w) => w.sum(None, false, None)?.into(),
            None => ScalarValue::Int(observations as i128).into(),
        };
        let means = weighted(&x)?.sum(Some(&[1]), true, None)?.div(total.clone())?;
        let norm: AnyOperand = match (&w, weights) {
            (None, _) => {
                let left = (observations as i128 - i128::from(correction)).max(0);
                AnyTensor::scalar_of(op, ScalarValue::Int(left), DType::I64)?.into()
            }
            (Some(w), Some(weights)) if correction != 0 => {
                let sum = w.sum(None, false, None)?;
                let squares = w.mul(weights)?.sum(None, false, None)?.mul(correction)?.div(&sum)?;
                sum.sub(squares)?.clamp_min(0)?.into()
            }
            (Some(w), _) => w.sum(None, false, None)?.sub(correction)?.clamp_min(0)?.into(),
        };
        let centered = x.sub(&means)?;
        let other = weighted(&centered)?.t()?.conj()?;
        let (dtype, centered) = (other.dtype, centered.to(other.dtype)?);
        let products = dispatch_dtype!(op, dtype, E: Inexact => {
            centered.typed_rank2::<E, Dynamic>()?.try_matmul(&other.typed_rank2::<E, Dynamic>()?).map(AnyTensor::from)
        })?;
        products.div(norm)?.squeeze(None)
    }

    /// Correlation coefficients of variables, each a row of observations (`torch.corrcoef`).
    ///
    /// # Errors
    /// As [`cov`](Self::cov).
    #[op(corrcoef(input), dtypes = numeric)]
    pub fn corrcoef(&self) -> Result<AnyTensor> {
        let c = self.cov(1, None, None)?;
        if c.rank() == 0 {
            return c.div(&c);
        }
        dispatch_dtype!("corrcoef", c.dtype, E: Inexact => {
            c.as_erased::<E>()?.correlations().map(IntoAny::into_any)
        })
    }

    /// The counts of a long list of small numbers on the host, a part after the other, so that the part as `int64` stays in the cache; `None`
    /// for other lists.
    fn counted_in_parts(&self, minlength: usize) -> Result<Option<AnyTensor>> {
        const PART: usize = 1 << 16;
        let is_here = self.device() == AnyDevice::CPU && self.has_data();
        if self.dtype == DType::I64 || !is_here || self.numel() <= PART || *self.strides == [0] {
            return Ok(None);
        }
        let (least, largest) = self.aminmax(None, false)?;
        let ends = [least.to(DType::I64)?.item()?, largest.to(DType::I64)?.item()?].map(|end| end.real_part() as i64);
        if ends[0] < 0 || minlength.max(ends[1] as usize) >= PART / 8 {
            return Ok(None);
        }
        let len = minlength.max(ends[1] as usize + 1);
        let mut counts = AnyTensor::zeros(&[len], DType::I64)?;
        for low in (0..self.numel()).step_by(PART) {
            let part = self.narrow(0, low as i64, PART.min(self.numel() - low))?.to(DType::I64)?;
            counts = counts.add(&part.as_erased::<i64>()?.bincount(len)?.into_any())?;
        }
        Ok(Some(counts))
    }

    /// How often each number from 0 up occurs, or the sum of weights of its occurrences (`torch.bincount`).
    ///
    /// # Errors
    /// If the tensor is not a list, its dtype not an integer, a number negative, or the number of weights is not that of elements.
    #[op(bincount(input, weights = None, minlength = 0), dtypes = integer, needs_elements)]
    pub fn bincount(&self, weights: Option<&AnyTensor>, minlength: usize) -> Result<AnyTensor> {
        let op = "bincount";
        if !is_integer(self.dtype) {
            return Err(refused(op, self.dtype));
        }
        if self.rank() != 1 {
            return invalid(op, format!("a list is wanted, got a tensor with {} axes", self.rank()));
        }
        let Some(weights) = weights else {
            return match self.counted_in_parts(minlength)? {
                Some(counts) => Ok(counts),
                None => self.to(DType::I64)?.as_erased::<i64>()?.bincount(minlength).map(IntoAny::into_any),
            };
        };
        let list = self.to(DType::I64)?;
        same_device(op, self, weights)?;
        // Weights other than `float32` are summed in `float64`.
        let weights = if weights.dtype == DType::F32 { weights.clone() } else { weights.to(DType::F64)? };
        dispatch_dtype!(op, weights.dtype, E: [f32, f64] => {
            list.as_erased::<i64>()?.bincount_weighted(&weights.as_erased::<E>()?, minlength).map(IntoAny::into_any)
        })
    }
}
