//! What runs on the device of its operands: `on!` for operations that make storage, `onto!` for those that write, `beside!` and `held!`
//! for storage itself. (That operands are on one device has been looked at before, where the operation is known.)

use super::DynamicBuffer;
use crate::device::{Backend, Cpu};
use crate::error::{Error, Result};
use crate::storage::{HostBuffer, View};

/// The CUDA back end, which runs on whatever device its operands are on.
#[cfg(feature = "cuda")]
pub(super) type Gpu = crate::device::Cuda<0>;

/// `on!(D of: a b => D::map2(kernel, a, b, strides).map(of); meta)`: what the device `D` of the first operand does; `of` makes its
/// storage a `DynamicBuffer`. `on!(D: a b => D::map2(kernel, a, b, strides))` is the same of what makes one storage.
macro_rules! on {
    ($D:ident $of:ident: $first:ident $($other:ident)* => $run:expr; $meta:expr) => {
        match $first.buffer {
            DynamicBuffer::Cpu(buffer) => {
                #[allow(dead_code)]
                type $D = Cpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cpu;
                $(
                    let DynamicBuffer::Cpu(other) = $other.buffer else { return Err(apart($first.buffer, $other.buffer)) };
                    let $other = $other.over(other);
                )*
                let $first = $first.over(buffer);
                $run
            }
            #[cfg(feature = "cuda")]
            DynamicBuffer::Cuda(buffer) => {
                #[allow(dead_code)]
                type $D = Gpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cuda;
                $(
                    let Some(other) = $other.buffer.beside(buffer) else { return Err(apart($first.buffer, $other.buffer)) };
                    let $other = $other.over(other);
                )*
                let $first = $first.over(buffer);
                $run
            }
            DynamicBuffer::Meta => $meta,
        }
    };
    ($D:ident: $($operand:ident)* => $run:expr) => { on!($D of: $($operand)* => $run.map(of); Ok(DynamicBuffer::Meta)) };
}
pub(super) use on;

/// `onto!(D: out, a b => D::map2_into(kernel, a, b, out))`: what the device `D` of the output does; without data nothing.
macro_rules! onto {
    ($D:ident: $out:ident, $($operand:ident)* => $run:expr) => {
        match $out.buffer {
            DynamicBuffer::Cpu(buffer) => {
                type $D = Cpu;
                $(
                    let DynamicBuffer::Cpu(other) = $operand.buffer else { return Err(apart_from("cpu".to_owned(), $operand.buffer)) };
                    let $operand = $operand.over(other);
                )*
                let $out = ViewMut::new(buffer, $out.offset, $out.sizes, $out.strides);
                $run
            }
            #[cfg(feature = "cuda")]
            DynamicBuffer::Cuda(buffer) => {
                type $D = Gpu;
                $(
                    let Some(other) = $operand.buffer.beside(buffer) else {
                        return Err(apart_from(buffer.device().name(), $operand.buffer));
                    };
                    let $operand = $operand.over(other);
                )*
                let $out = ViewMut::new(buffer, $out.offset, $out.sizes, $out.strides);
                $run
            }
            DynamicBuffer::Meta => Ok(()),
        }
    };
}
pub(super) use onto;

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

/// A device with data, as those that operands name while running.
pub(super) trait There: Backend {
    /// The storage of a buffer that is where another one is.
    fn there<'a>(buffer: &'a DynamicBuffer, own: &Self::Storage) -> Option<&'a Self::Storage>;

    /// The name of the device.
    fn name_of(own: &Self::Storage) -> String;

    /// One more operand, beside those on this device.
    fn joining<'a, E>(view: View<'a, DynamicBuffer, E>, own: &Self::Storage) -> Result<View<'a, Self::Storage, E>> {
        match Self::there(view.buffer, own) {
            Some(buffer) => Ok(view.over(buffer)),
            None => Err(apart_from(Self::name_of(own), view.buffer)),
        }
    }
}
impl There for Cpu {
    fn there<'a>(buffer: &'a DynamicBuffer, _: &HostBuffer) -> Option<&'a HostBuffer> {
        match buffer {
            DynamicBuffer::Cpu(buffer) => Some(buffer),
            _ => None,
        }
    }
    fn name_of(_: &HostBuffer) -> String {
        "cpu".to_owned()
    }
}
#[cfg(feature = "cuda")]
impl There for Gpu {
    fn there<'a>(buffer: &'a DynamicBuffer, own: &crate::cuda::CudaBuffer) -> Option<&'a crate::cuda::CudaBuffer> {
        buffer.beside(own)
    }
    fn name_of(own: &crate::cuda::CudaBuffer) -> String {
        own.device().name()
    }
}
