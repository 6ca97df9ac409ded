//! What runs on the device of its operands: `on!` for views, `beside!` and `held!` for storage itself; and how a call gets there.
//! (That operands are on one device was checked before, where the operation is known.)

use super::DynamicBuffer;
#[cfg(feature = "cuda")]
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::device::call::Rehouse;
use crate::error::{Error, Result};
use crate::storage::HostBuffer;

/// The CUDA back end, which runs on whatever device its operands are on.
#[cfg(feature = "cuda")]
pub(super) type Gpu = crate::device::Cuda<0>;

/// `on!(D of: view => D::peek(view); meta)`: what the device `D` of a view does; `of` makes its storage a `DynamicBuffer`.
macro_rules! on {
    ($D:ident $of:ident: $view:ident => $run:expr; $meta:expr) => {
        match $view.buffer {
            DynamicBuffer::Cpu(buffer) => {
                type $D = Cpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cpu;
                let $view = $view.over(buffer);
                $run
            }
            #[cfg(feature = "cuda")]
            DynamicBuffer::Cuda(buffer) => {
                type $D = Gpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cuda;
                let $view = $view.over(buffer);
                $run
            }
            DynamicBuffer::Meta => $meta,
        }
    };
}
pub(super) use on;

/// `beside!(D: beside => D::zeroed::<E>(beside, len))`: storage made on the device of another one, if there is one, else on the host.
macro_rules! beside {
    ($D:ident: $beside:ident => $run:expr) => {
        match $beside {
            Some(DynamicBuffer::Meta) => Ok(DynamicBuffer::Meta),
            #[cfg(feature = "cuda")]
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
pub(super) use beside;

/// `held!(D of: storage => D::is_unique(storage); meta)`: what the device `D` of a storage does with it; `of` makes its storage a
/// `DynamicBuffer`.
macro_rules! held {
    ($D:ident $of:ident: $storage:ident => $run:expr; $meta:expr) => {
        match $storage {
            DynamicBuffer::Cpu($storage) => {
                type $D = Cpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cpu;
                $run
            }
            #[cfg(feature = "cuda")]
            DynamicBuffer::Cuda($storage) => {
                type $D = Gpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cuda;
                $run
            }
            DynamicBuffer::Meta => $meta,
        }
    };
}
pub(super) use held;

/// Operands on different devices.
#[cold]
pub(super) fn apart(a: &DynamicBuffer, b: &DynamicBuffer) -> Error {
    apart_from(a.device_name().to_owned(), b)
}

/// An operand that is elsewhere than on this device.
#[cold]
pub(super) fn apart_from(device: String, other: &DynamicBuffer) -> Error {
    Error::DevicesDiffer { op: "device", lhs: device, rhs: other.device_name().to_owned() }
}

/// Operands of a call on the host.
pub(super) struct OnHost;
impl Rehouse<DynamicBuffer, HostBuffer> for OnHost {
    fn shared<'a>(&self, storage: &'a DynamicBuffer) -> Result<&'a HostBuffer> {
        match storage {
            DynamicBuffer::Cpu(buffer) => Ok(buffer),
            other => Err(apart_from("cpu".to_owned(), other)),
        }
    }
    fn exclusive<'a>(&self, storage: &'a mut DynamicBuffer) -> Result<&'a mut HostBuffer> {
        match storage {
            DynamicBuffer::Cpu(buffer) => Ok(buffer),
            other => Err(apart_from("cpu".to_owned(), other)),
        }
    }
}

/// Operands of a call on one GPU.
#[cfg(feature = "cuda")]
pub(super) struct OnGpu(pub(super) &'static CudaDevice);
#[cfg(feature = "cuda")]
impl Rehouse<DynamicBuffer, CudaBuffer> for OnGpu {
    fn shared<'a>(&self, storage: &'a DynamicBuffer) -> Result<&'a CudaBuffer> {
        match storage {
            DynamicBuffer::Cuda(buffer) if buffer.device().ordinal() == self.0.ordinal() => Ok(buffer),
            other => Err(apart_from(self.0.name(), other)),
        }
    }
    fn exclusive<'a>(&self, storage: &'a mut DynamicBuffer) -> Result<&'a mut CudaBuffer> {
        self.shared(storage)?;
        match storage {
            DynamicBuffer::Cuda(buffer) => Ok(buffer),
            other => Err(apart_from(self.0.name(), other)),
        }
    }
}
