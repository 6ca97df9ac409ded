//! Closeness and equality of two tensors: `isclose`, `allclose`, `equal`.

use crate::any::base::by_width::on_one_device;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::{AnyTensor, IntoAny};
use crate::device::AnyDevice;
use crate::dtype::Category;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Result, invalid};
use crate::ops::close::Closeness;
use castiron_macros::operations;

/// Size of the first part that `equal` compares; later parts grow (early exit).
const FIRST: usize = if cfg!(debug_assertions) { 4 } else { 1 << 10 };

#[operations]
impl AnyTensor {
    /// Whether elements differ by no more than `atol + rtol * abs(other)` (`torch.isclose`).
    ///
    /// # Errors
    /// If shapes do not broadcast, dtypes differ, or a tolerance is negative.
    #[op(isclose(input, other, rtol = 1e-5, atol = 1e-8, equal_nan = false), dtypes = any)]
    pub fn isclose(&self, other: &AnyTensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<AnyTensor> {
        let op = "isclose";
        self.expect_alike(op, other)?;
        if rtol < 0.0 || atol < 0.0 {
            return invalid(op, format!("tolerances must not be negative, got rtol {rtol} and atol {atol}"));
        }
        let [a, b] = on_one_device([self, other])?;
        dispatch_dtype!(op, self.dtype, E: Dtype => {
            let closeness = Closeness { rtol, atol, equal_nan };
            a.as_erased::<E>()?.map2::<E, bool>(op, closeness, &b.as_erased()?).map(IntoAny::into_any)
        })
    }

    /// Whether all elements are [close](Self::isclose) (`torch.allclose`).
    ///
    /// # Errors
    /// As there, or if there are no data.
    #[op(allclose(input, other, rtol = 1e-5, atol = 1e-8, equal_nan = false), dtypes = any, needs_elements)]
    pub fn allclose(&self, other: &AnyTensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
        self.isclose(other, rtol, atol, equal_nan)?.all(None, false)?.is_true()
    }

    /// Whether shapes and all elements are equal (`torch.equal`); dtypes promote.
    ///
    /// # Errors
    /// If the dtypes do not promote, or there are no data.
    #[op(equal(input, other), dtypes = any)]
    pub fn equal(&self, other: &AnyTensor) -> Result<bool> {
        if self.shape() != other.shape() {
            return Ok(false);
        }
        // Two identical views are equal, if the dtype has no NaN.
        let is_one = self.offset == other.offset && self.strides == other.strides && self.dtype == other.dtype;
        if is_one && self.dtype.category() <= Category::Integral && self.has_data() && self.shares_storage(other) {
            return Ok(true);
        }
        // Parts of growing size along the first axis: most unequal tensors differ early.
        let rows = self.sizes.first().copied().unwrap_or(1);
        let (mut low, mut count) = (0, (FIRST / (self.numel() / rows.max(1)).max(1)).max(1));
        // A broadcast tensor may have more rows than can be compared in parts.
        let is_spread = |x: &AnyTensor| x.sizes.iter().zip(&*x.strides).any(|(&size, &stride)| size > 1 && stride == 0);
        let by_parts = self.device() == AnyDevice::CPU && !is_spread(self) && !is_spread(other);
        while by_parts && low + count < rows {
            let [a, b] = [self, other].map(|x| x.narrow(0, low as i64, count));
            if !a?.eq(&b?)?.all(None, false)?.is_true()? {
                return Ok(false);
            }
            (low, count) = (low + count, count.saturating_mul(4));
        }
        let [a, b] = if low == 0 {
            [self.clone(), other.clone()]
        } else {
            [self.narrow(0, low as i64, rows - low)?, other.narrow(0, low as i64, rows - low)?]
        };
        a.eq(&b)?.all(None, false)?.is_true()
    }

    fn is_true(&self) -> Result<bool> {
        Ok(self.item()? == ScalarValue::Bool(true))
    }
}
