//! Where there are no gradients nothing is recorded.

use crate::any::{AnyTensor, Dims};
use crate::device::erased::Reducing;
use crate::device::{AnyDevice, Device};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::Result;
use crate::ops::slope::Formula;

#[allow(clippy::unused_self, clippy::unnecessary_wraps, clippy::extra_unused_type_parameters)]
impl AnyTensor {
    #[inline(always)]
    pub(in crate::any) fn is_recorded(&self) -> bool {
        false
    }
    #[inline(always)]
    pub(in crate::any) fn off_tape(&self) -> AnyTensor {
        self.clone()
    }
    #[inline(always)]
    pub(in crate::any) fn keeps_its_value(&mut self) -> Result<bool> {
        Ok(false)
    }
    #[inline(always)]
    pub(in crate::any) fn expect_off_tape<D: Device>(&self, _: &'static str) -> Result<()> {
        Ok(())
    }
}

/// What guards the setting of a thread.
#[must_use = "the setting is restored when this is dropped"]
pub(in crate::any) struct Unchanged;
#[inline(always)]
pub(in crate::any) fn scoped_recording() -> Unchanged {
    Unchanged
}
#[inline(always)]
pub(in crate::any) fn scoped_no_grad() -> Unchanged {
    Unchanged
}

pub(in crate::any) fn elementwise(
    _: &'static str,
    _: (Option<&'static Formula>, Option<ScalarValue>),
    _: DType,
    _: &[AnyTensor],
    result: AnyTensor,
) -> Result<AnyTensor> {
    Ok(result)
}
pub(in crate::any) fn to_device(x: &AnyTensor, device: AnyDevice) -> Result<AnyTensor> {
    x.to_device(device)
}
pub(in crate::any) fn converted(x: &AnyTensor, dtype: DType) -> Result<AnyTensor> {
    x.to(dtype)
}
pub(in crate::any) fn reduced<const N: usize>(
    op: &'static str,
    functions: &dyn Reducing,
    x: &AnyTensor,
    to: (u32, Dims),
) -> Result<[AnyTensor; N]> {
    crate::any::reduce::reductions::over_axes(op, functions, x, to)
}
