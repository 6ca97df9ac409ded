//! Sparse tensors whose values are on a GPU. Places are on the host wherever the values are, for they are sorted and compared there;
//! values are computed with where they are, or go to the host and back where the two are computed together.
//!
//! Uses `base::copies`; used by the operations of `AnySparse`.

use super::AnySparse;
use crate::any::AnyTensor;
use crate::device::{AnyDevice, IntoDevice};
use crate::error::Result;

impl AnySparse {
    /// The device of the values (`torch.Tensor.device`).
    pub fn device(&self) -> AnyDevice {
        self.values.device()
    }

    /// The tensor with its values on another device (`torch.Tensor.to(device)`). The places of elements stay on the host.
    ///
    /// # Errors
    /// If the device is not there, or has no data.
    pub fn to_device(&self, device: impl IntoDevice) -> Result<AnySparse> {
        let values = self.values.to_device(device)?;
        values.data("to_device")?;
        Ok(self.with_values(values))
    }

    /// What a function of host tensors gives for this one and another, both of which are on one device, where its result goes.
    pub(super) fn by_host(
        &self,
        op: &'static str,
        other: &AnySparse,
        run: impl FnOnce(&AnySparse, &AnySparse) -> Result<AnySparse>,
    ) -> Option<Result<AnySparse>> {
        let device = self.device();
        if device == AnyDevice::CPU && other.device() == device {
            return None;
        }
        Some((|| {
            crate::any::elementwise::apply::same_device(op, &self.values, &other.values)?;
            run(&self.to_device(AnyDevice::CPU)?, &other.to_device(AnyDevice::CPU)?)?.to_device(device)
        })())
    }

    /// The dense tensor, made where the values are.
    pub(super) fn scattered_dense(&self) -> Result<AnyTensor> {
        let (sparse, dense) = self.sparse_and_dense_sizes();
        let rows = [sparse.iter().product::<usize>(), dense.iter().product()];
        let keys = AnyTensor::from(&self.keys).reshape(&[self.nnz() as i64])?.to_device(self.device())?;
        let empty = AnyTensor::zeros_on(&rows, self.dtype(), self.device())?;
        let filled = match self.is_coalesced() {
            true => empty.index_copy(0, &keys, &self.values)?,
            false => empty.index_add(0, &keys, &self.values, 1)?,
        };
        filled.reshape(&crate::any::base::by_width::signed(&self.sizes))
    }
}
