//! `DynamicBuffer`: the storage of any device; conversion to and from the storage of device types.

use crate::cpu::{erased, read};
use crate::cuda::CudaBuffer;
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
    /// On a GPU.
    Cuda(CudaBuffer),
    /// Without data.
    Meta,
    /// On a tape, or written through windows, which may put it there. What is inside is none of these.
    #[cfg(feature = "grad")]
    Taped(Box<crate::grad::Tracked<DynamicBuffer>>),
}

/// The names of CUDA devices by ordinal.
fn name_of(ordinal: usize) -> &'static str {
    static NAMES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    let names = NAMES.get_or_init(|| (0..=i8::MAX as usize).map(|ordinal| format!("cuda:{ordinal}")).collect());
    names.get(ordinal).map_or("cuda", String::as_str)
}

impl DynamicBuffer {
    /// A buffer without data, for planning.
    pub(crate) const NO_DATA: DynamicBuffer = DynamicBuffer::Meta;

    /// The buffer off the tape, if it is on one.
    #[inline(always)]
    pub(crate) fn plain(&self) -> &DynamicBuffer {
        match self {
            #[cfg(feature = "grad")]
            DynamicBuffer::Taped(tracked) => &tracked.inner,
            plain => plain,
        }
    }

    /// The same for writing.
    #[inline(always)]
    pub(crate) fn plain_mut(&mut self) -> &mut DynamicBuffer {
        match self {
            #[cfg(feature = "grad")]
            DynamicBuffer::Taped(tracked) => &mut tracked.inner,
            plain => plain,
        }
    }

    /// Its device.
    pub(crate) fn device(&self) -> AnyDevice {
        match self.plain() {
            DynamicBuffer::Cpu(_) => AnyDevice::CPU,
            DynamicBuffer::Cuda(buffer) => AnyDevice::cuda(buffer.device().ordinal() as u8),
            _ => AnyDevice::META,
        }
    }

    /// What measures how long work on it takes.
    #[cfg(feature = "profile")]
    pub(crate) fn clock(&self) -> crate::profile::Clock {
        match self.plain() {
            DynamicBuffer::Cuda(buffer) => crate::profile::Clock::gpu(buffer.device()),
            _ => crate::profile::Clock::HOST,
        }
    }

    /// The name of its device.
    pub(crate) fn device_name(&self) -> &'static str {
        match self.plain() {
            DynamicBuffer::Cpu(_) => "cpu",
            DynamicBuffer::Cuda(buffer) => name_of(buffer.device().ordinal()),
            _ => "meta",
        }
    }

    /// The device of several operands: those on the host are compatible with those on another.
    pub(crate) fn common_device<'a>(operands: impl IntoIterator<Item = &'a DynamicBuffer>) -> AnyDevice {
        let elsewhere = operands.into_iter().find(|buffer| !matches!(buffer.plain(), DynamicBuffer::Cpu(_)));
        elsewhere.map_or(AnyDevice::CPU, DynamicBuffer::device)
    }

    /// Zeros on a device, if it is available.
    pub(crate) fn zeroed(device: AnyDevice, bytes: usize) -> Result<DynamicBuffer> {
        match device {
            AnyDevice::META => Ok(DynamicBuffer::Meta),
            _ if device != AnyDevice::CPU => {
                let device = crate::cuda::device(device.index().unwrap_or(0))?;
                CudaBuffer::zeroed(device, bytes).map(DynamicBuffer::Cuda)
            }
            _ => crate::cpu::fill::zeroed::<u8>(bytes).map(DynamicBuffer::Cpu),
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

    /// Another handle; `None` if the memory is borrowed, because the handle could outlive it.
    #[inline]
    pub(crate) fn shared(&self) -> Option<DynamicBuffer> {
        match self {
            DynamicBuffer::Cpu(buffer) => buffer.shared().map(DynamicBuffer::Cpu),
            DynamicBuffer::Cuda(buffer) => buffer.shared().map(DynamicBuffer::Cuda),
            DynamicBuffer::Meta => Some(DynamicBuffer::Meta),
            #[cfg(feature = "grad")]
            DynamicBuffer::Taped(tracked) => Some(DynamicBuffer::tracked(tracked.handle(tracked.inner.shared()?))),
        }
    }

    /// From the storage of a device type.
    pub(crate) fn from_typed<D: Device>(storage: D::Storage) -> DynamicBuffer {
        let mut storage = Some(storage);
        let storage: &mut dyn Any = &mut storage;
        if let Some(buffer) = storage.downcast_mut::<Option<DynamicBuffer>>().and_then(Option::take) {
            return buffer;
        }
        if let Some(buffer) = storage.downcast_mut::<Option<CudaBuffer>>().and_then(Option::take) {
            return DynamicBuffer::Cuda(buffer);
        }
        // Storage without data is on the meta device.
        let host = storage.downcast_mut::<Option<HostBuffer>>().and_then(Option::take);
        host.map_or(DynamicBuffer::Meta, DynamicBuffer::Cpu)
    }

    /// The storage as that of a device type; `None` if it is on another device.
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
            DynamicBuffer::Cuda(buffer) => {
                let device = D::default().into_device().ok().and_then(AnyDevice::index);
                if device == Some(buffer.device().ordinal())
                    && let Some(slot) = slot.downcast_mut::<Option<CudaBuffer>>()
                {
                    *slot = Some(buffer);
                }
            }
            DynamicBuffer::Meta => {
                if let Some(slot) = slot.downcast_mut::<Option<NoData>>() {
                    *slot = Some(NoData);
                }
            }
            #[cfg(feature = "grad")]
            DynamicBuffer::Taped(tracked) => return tracked.inner.into_typed::<D>(),
        }
        typed
    }

    /// The buffer, if it is on the same GPU as the other.
    pub(super) fn beside(&self, other: &CudaBuffer) -> Option<&CudaBuffer> {
        match self.plain() {
            DynamicBuffer::Cuda(buffer) if buffer.device().ordinal() == other.device().ordinal() => Some(buffer),
            _ => None,
        }
    }

    /// The first element in row-major order that satisfies the test; `None` without data. (GPU elements are copied to the host.)
    pub(crate) fn find<E: Element>(view: View<'_, DynamicBuffer, E>, test: impl Fn(E) -> bool) -> Result<Option<E>> {
        match view.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => Ok(read::find(view.over(buffer), test)),
            DynamicBuffer::Cuda(buffer) => {
                use crate::device::{Backend, Cuda};
                Ok(Cuda::<0>::download(view.over(buffer))?.into_iter().find(|&element| test(element)))
            }
            _ => Ok(None),
        }
    }
}
