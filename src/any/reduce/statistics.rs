//! Statistics of samples: `cov`, `corrcoef`, `bincount`.

use crate::any::base::dispatch::{dispatch_dtype, is_integer, refused};
use crate::any::base::operand::{AnyOperand, same_device};
use crate::any::{AnyTensor, IntoAny};
use crate::cpu::threads;
use crate::device::{AnyDevice, Dynamic, on_host};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, default_dtype};
use crate::error::{Error, Result, invalid, listed, room};
use castiron_macros::operations;

/// From this many numbers on, and where no more threads would count them, those below [`BYTES`] are counted as bytes.
const MANY: usize = 1 << 12;
const THREADS: usize = 4;
const BYTES: usize = 256;

/// How often each byte occurs: in several tables, so that equal bytes in a row do not wait for each other.
fn counts_of(bytes: &[u8]) -> [i64; BYTES] {
    let mut tables = [[0_i64; BYTES]; 4];
    let (fours, rest) = bytes.as_chunks::<4>();
    for four in fours {
        for (table, &byte) in tables.iter_mut().zip(four) {
            table[usize::from(byte)] += 1;
        }
    }
    for &byte in rest {
        tables[0][usize::from(byte)] += 1;
    }
    core::array::from_fn(|at| tables.iter().map(|table| table[at]).sum())
}

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

    /// The counts of a long list of small numbers on the host, where few threads count; `None` for other lists.
    fn counted_by_bytes(&self, minlength: usize) -> Result<Option<AnyTensor>> {
        let (op, len) = ("bincount", self.numel());
        let is_here = self.device() == AnyDevice::CPU && self.has_data();
        if !is_here || *self.strides == [0] || len < MANY || minlength > BYTES || threads::pieces(len) > THREADS {
            return Ok(None);
        }
        let (least, largest) = self.aminmax(None, false)?;
        let [least, largest] = [least.item()?, largest.item()?].map(|end| end.real_part());
        if least < 0.0 || largest >= BYTES as f64 {
            return Ok(None);
        }
        let len = minlength.max(largest as usize + 1);
        let bytes = self.to(DType::U8)?;
        let buffer = on_host::<Dynamic, _, Vec<i64>>(op, bytes.elements_as::<u8>()?, |bytes| {
            listed(counts_of(&bytes).into_iter().take(len))
        })?;
        Ok(Some(AnyTensor::fresh(buffer, DType::I64, &[len], &[1])))
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
            return match self.counted_by_bytes(minlength)? {
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
