//! `DynamicBuffer`: the storage of one of the devices; to and from those that a type names.
//!
//! Uses `cpu::erased` and `cpu::read`; used by `any`.

use crate::cpu::{erased, read};
use crate::device::meta::NoData;
use crate::device::{AnyDevice, Device};
use crate::dtype::Element;
use crate::error::Result;
use crate::storage::{HostBuffer, View};
use core::any::Any;

/// A buffer on one of the devices.
#[derive(Debug)]
pub enum DynamicBuffer {
    /// On the host.
    Cpu(HostBuffer),
    /// Without data.
    Meta,
}

/// Why an `AnyTensor` is not on a GPU.
#[cfg(feature = "cuda")]
const NO_CUDA: &str =
    "`AnyTensor` does not hold elements on CUDA yet: use `Tensor`, or move it to the host with `cpu()`";

/// The refusal of a device that is there, but not for an `AnyTensor`.
#[cfg(feature = "cuda")]
pub(super) fn no_cuda(device: AnyDevice) -> crate::Error {
    crate::Error::DeviceUnavailable { device: device.to_string(), reason: NO_CUDA }
}

impl DynamicBuffer {
    /// What has no data, for those who only plan.
    pub(crate) const NO_DATA: DynamicBuffer = DynamicBuffer::Meta;

    /// Its device.
    pub(crate) fn device(&self) -> AnyDevice {
        match self {
            DynamicBuffer::Cpu(_) => AnyDevice::CPU,
            DynamicBuffer::Meta => AnyDevice::META,
        }
    }

    /// The name of its device.
    pub(crate) fn device_name(&self) -> &'static str {
        match self {
            DynamicBuffer::Cpu(_) => "cpu",
            DynamicBuffer::Meta => "meta",
        }
    }

    /// The device of operands on several: those on the host join those on another.
    pub(crate) fn common_device<'a>(operands: impl IntoIterator<Item = &'a DynamicBuffer>) -> AnyDevice {
        let elsewhere = operands.into_iter().find(|buffer| !matches!(buffer, DynamicBuffer::Cpu(_)));
        elsewhere.map_or(AnyDevice::CPU, DynamicBuffer::device)
    }

    /// Zeros on a device that is there.
    pub(crate) fn zeroed(device: AnyDevice, bytes: usize) -> Result<DynamicBuffer> {
        match device {
            AnyDevice::META => Ok(DynamicBuffer::Meta),
            #[cfg(feature = "cuda")]
            _ if device != AnyDevice::CPU => Err(no_cuda(device)),
            _ => HostBuffer::zeroed::<u8>(bytes).map(DynamicBuffer::Cpu),
        }
    }

    /// Bytes on the host.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<DynamicBuffer> {
        // SAFETY: all bytes are written.
        let buffer = unsafe {
            erased::fresh(bytes.len(), 1, |out| core::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()))
        };
        buffer.map(DynamicBuffer::Cpu)
    }

    /// One more handle; `None` if the memory is borrowed, because the handle could outlive it.
    #[inline]
    pub(crate) fn shared(&self) -> Option<DynamicBuffer> {
        match self {
            DynamicBuffer::Cpu(buffer) => buffer.shared().map(DynamicBuffer::Cpu),
            DynamicBuffer::Meta => Some(DynamicBuffer::Meta),
        }
    }

    /// The storage of a device that a type names.
    pub(crate) fn from_typed<D: Device>(storage: D::Storage) -> DynamicBuffer {
        let mut storage = Some(storage);
        let storage: &mut dyn Any = &mut storage;
        if let Some(buffer) = storage.downcast_mut::<Option<DynamicBuffer>>().and_then(Option::take) {
            return buffer;
        }
        // What has elements must not become a buffer that has none.
        #[cfg(feature = "cuda")]
        assert!(!(*storage).is::<Option<crate::cuda::CudaBuffer>>(), "{}", NO_CUDA);
        // What is not on the host is on the meta device.
        let host = storage.downcast_mut::<Option<HostBuffer>>().and_then(Option::take);
        host.map_or(DynamicBuffer::Meta, DynamicBuffer::Cpu)
    }

    /// The storage as that of a device that a type names; `None` if it is on another.
    pub(crate) fn into_typed<D: Device>(self) -> Option<D::Storage> {
        let mut typed: Option<D::Storage> = None;
        let slot: &mut dyn Any = &mut typed;
        if let Some(slot) = slot.downcast_mut::<Option<DynamicBuffer>>() {
            *slot = Some(self);
            return typed;
        }
        match self {
            DynamicBuffer::Cpu(buffer) => {
                if let Some(slot) = slot.downcast_mut::<Option<HostBuffer>>() {
                    *slot = Some(buffer);
                }
            }
            DynamicBuffer::Meta => {
                if let Some(slot) = slot.downcast_mut::<Option<NoData>>() {
                    *slot = Some(NoData);
                }
            }
        }
        typed
    }

    /// The first element in row-major order that satisfies the test; none without data.
    pub(crate) fn find<E: Element>(view: View<'_, DynamicBuffer, E>, test: impl Fn(E) -> bool) -> Option<E> {
        match view.buffer {
            DynamicBuffer::Cpu(buffer) => read::find(view.over(buffer), test),
            DynamicBuffer::Meta => None,
        }
    }
}
