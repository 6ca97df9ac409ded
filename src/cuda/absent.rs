//! The CUDA runtime of a build without the feature `cuda`: the names that other modules know. There is no device, hence no buffer.

#![cfg_attr(not(feature = "any"), allow(dead_code))]

use crate::device::{AnyDevice, DeviceType};
use crate::error::{Error, Result};

/// Why there is no CUDA device, and what to do.
const ABSENT: &str =
    "this build of castiron has no CUDA support; keep the tensor on `Cpu`, or use `Meta` for shapes alone";

/// That this device is not there.
pub(crate) fn unavailable<T>(device: String) -> Result<T> {
    Err(Error::DeviceUnavailable { device, reason: ABSENT })
}

/// The device with this ordinal.
pub(crate) fn device(ordinal: usize) -> Result<&'static CudaDevice> {
    unavailable(
        AnyDevice::new((DeviceType::CUDA, ordinal)).map_or_else(|_| "cuda".to_owned(), |device| device.to_string()),
    )
}

/// There is none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CudaDevice {}
impl CudaDevice {
    pub(crate) fn ordinal(&self) -> usize {
        match *self {}
    }
    pub(crate) fn name(&self) -> String {
        match *self {}
    }
}

/// There is none.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum CudaBuffer {}
impl CudaBuffer {
    pub(crate) fn device(&self) -> &'static CudaDevice {
        match *self {}
    }
    pub(crate) fn shared(&self) -> Option<Self> {
        match *self {}
    }
    pub(crate) fn is_fixed(&self) -> bool {
        match *self {}
    }
    pub(crate) unsafe fn elements<E: Copy>(&self, _: usize, _: usize) -> Result<Vec<E>> {
        match *self {}
    }
    pub(crate) fn zeroed(device: &'static CudaDevice, _: usize) -> Result<Self> {
        match *device {}
    }
    pub(crate) fn upload<E: Copy>(device: &'static CudaDevice, _: &[E]) -> Result<Self> {
        match *device {}
    }
}

/// There is none.
#[cfg(feature = "profile")]
pub(crate) enum Event {}
#[cfg(feature = "profile")]
impl Event {
    pub(crate) fn recorded(device: &'static CudaDevice) -> Result<Self> {
        match *device {}
    }
    pub(crate) fn since(&self, _: &Event) -> Result<f64> {
        match *self {}
    }
    pub(crate) fn ordinal(&self) -> usize {
        match *self {}
    }
}
