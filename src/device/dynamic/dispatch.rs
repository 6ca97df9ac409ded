//! What runs on the device of its operands: `dispatch_read!` for views, `dispatch_alloc!` and `dispatch_storage!` for storage itself; and how a call gets there.
//! (That operands are on one device was checked before, where the operation is known.)

use super::DynamicBuffer;
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::device::call::{Elsewhere, Rehouse, Rehoused};
use crate::error::Error;
use crate::storage::HostBuffer;

/// The CUDA back end, which runs on the device of its operands.
pub(super) type Gpu = crate::device::Cuda<0>;

/// `dispatch_read!(D of: view => D::peek(view); meta)`: what the device `D` of a view does; `of` makes its storage a `DynamicBuffer`.
macro_rules! dispatch_read {
    ($D:ident $of:ident: $view:ident => $run:expr; $meta:expr) => {
        match $view.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => {
                type $D = Cpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cpu;
                let $view = $view.over(buffer);
                $run
            }
            #[allow(unreachable_code, reason = "where there is no CUDA there is no buffer")]
            DynamicBuffer::Cuda(buffer) => {
                type $D = Gpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cuda;
                let $view = $view.over(buffer);
                $run
            }
            _ => $meta,
        }
    };
}
pub(super) use dispatch_read;

/// `dispatch_alloc!(D: beside => D::zeroed::<E>(beside, len))`: storage made on the device of another one, if there is one, else on the host.
macro_rules! dispatch_alloc {
    ($D:ident: $beside:ident => $run:expr) => {
        match $beside.map(DynamicBuffer::plain) {
            Some(DynamicBuffer::Meta) => Ok(DynamicBuffer::Meta),
            Some(DynamicBuffer::Cuda(own)) => {
                type $D = Gpu;
                let $beside = Some(own);
                $run.map(DynamicBuffer::Cuda)
            }
            _ => {
                type $D = Cpu;
                let $beside = None;
                $run.map(DynamicBuffer::Cpu)
            }
        }
    };
}
pub(super) use dispatch_alloc;

/// `dispatch_storage!(D of: storage => D::is_unique(storage); meta)` runs the expression with a storage's device `D`; `of` converts its
/// storage to a `DynamicBuffer`.
macro_rules! dispatch_storage {
    ($D:ident $of:ident: $storage:ident => $run:expr; $meta:expr) => {
        match $storage {
            DynamicBuffer::Cpu($storage) => {
                type $D = Cpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cpu;
                $run
            }
            #[allow(unreachable_code, reason = "where there is no CUDA there is no buffer")]
            DynamicBuffer::Cuda($storage) => {
                type $D = Gpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cuda;
                $run
            }
            _ => $meta,
        }
    };
}
pub(super) use dispatch_storage;

/// The error for operands on different devices.
#[cold]
pub(super) fn device_mismatch(a: &DynamicBuffer, b: &DynamicBuffer) -> Error {
    device_mismatch_with(a.device_name().to_owned(), b)
}

/// The error for an operand that is not on this device.
#[cold]
pub(super) fn device_mismatch_with(device: String, other: &DynamicBuffer) -> Error {
    Error::DevicesDiffer { op: "device", lhs: device, rhs: other.device_name().to_owned() }
}

/// The error for an operand of a call that can't be handed to a device.
#[cold]
pub(super) fn elsewhere(device: &str, reason: Elsewhere) -> Error {
    match reason {
        Elsewhere::On(other) => Error::DevicesDiffer { op: "device", lhs: device.to_owned(), rhs: other.to_owned() },
        Elsewhere::NoRoom(bytes) => Error::OutOfMemory { bytes, device: "cpu" },
        #[cfg(feature = "grad")]
        Elsewhere::NotRecorded | Elsewhere::Parameter => super::taping::not_recorded("device"),
    }
}

/// Operands of a call on the host.
pub(super) struct OnHost;
impl Rehouse<DynamicBuffer, HostBuffer> for OnHost {
    fn shared<'a: 'b, 'b>(&'b self, storage: &'a DynamicBuffer) -> Rehoused<&'b HostBuffer> {
        match storage.plain() {
            DynamicBuffer::Cpu(buffer) => Ok(buffer),
            other => Err(on(other)),
        }
    }
    fn exclusive<'a: 'b, 'b>(&'b self, storage: &'a mut DynamicBuffer) -> Rehoused<&'b mut HostBuffer> {
        match storage.plain_mut() {
            DynamicBuffer::Cpu(buffer) => Ok(buffer),
            other => Err(on(other)),
        }
    }
}

#[cold]
fn on(other: &DynamicBuffer) -> Elsewhere {
    Elsewhere::On(other.device_name())
}

/// Operands of a call on one GPU.
pub(super) struct OnGpu(pub(super) &'static CudaDevice);
impl Rehouse<DynamicBuffer, CudaBuffer> for OnGpu {
    fn shared<'a: 'b, 'b>(&'b self, storage: &'a DynamicBuffer) -> Rehoused<&'b CudaBuffer> {
        match storage.plain() {
            DynamicBuffer::Cuda(buffer) if buffer.device().ordinal() == self.0.ordinal() => Ok(buffer),
            other => Err(on(other)),
        }
    }
    fn exclusive<'a: 'b, 'b>(&'b self, storage: &'a mut DynamicBuffer) -> Rehoused<&'b mut CudaBuffer> {
        self.shared(storage)?;
        match storage.plain_mut() {
            DynamicBuffer::Cuda(buffer) => Ok(buffer),
            other => Err(on(other)),
        }
    }
}
