//! Dispatch on the device of operands: `dispatch_read!` for operations that make storage, `dispatch_write!` for those that write,
//! `dispatch_alloc!` and `dispatch_storage!` for storage itself. (Callers have checked that operands are on one device.)

use super::DynamicBuffer;
use crate::device::{Backend, Cpu};
use crate::error::{Error, Result};
use crate::storage::{HostBuffer, View};

/// The CUDA back end, which runs on the device of its operands.
#[cfg(feature = "cuda")]
pub(super) type Gpu = crate::device::Cuda<0>;

/// `dispatch_read!(D of: a b => D::map2(kernel, a, b, strides).map(of); meta)` runs the expression with the first operand's device `D`;
/// `of` converts its storage to a `DynamicBuffer`. `dispatch_read!(D: a b => D::map2(kernel, a, b, strides))` is short for operations
/// that make one storage.
macro_rules! dispatch_read {
    ($D:ident $of:ident: $first:ident $($other:ident)* => $run:expr; $meta:expr) => {
        match $first.buffer {
            DynamicBuffer::Cpu(buffer) => {
                #[allow(dead_code)]
                type $D = Cpu;
                #[allow(unused_variables)]
                let $of = DynamicBuffer::Cpu;
                $(
                    let DynamicBuffer::Cpu(other) = $other.buffer else { return Err(device_mismatch($first.buffer, $other.buffer)) };
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
                    let Some(other) = $other.buffer.beside(buffer) else { return Err(device_mismatch($first.buffer, $other.buffer)) };
                    let $other = $other.over(other);
                )*
                let $first = $first.over(buffer);
                $run
            }
            DynamicBuffer::Meta => $meta,
        }
    };
    ($D:ident: $($operand:ident)* => $run:expr) => { dispatch_read!($D of: $($operand)* => $run.map(of); Ok(DynamicBuffer::Meta)) };
}
pub(super) use dispatch_read;

/// `dispatch_write!(D: out, a b => D::map2_into(kernel, a, b, out))` runs the expression with the output's device `D`; does nothing
/// without data.
macro_rules! dispatch_write {
    ($D:ident: $out:ident, $($operand:ident)* => $run:expr) => {
        match $out.buffer {
            DynamicBuffer::Cpu(buffer) => {
                type $D = Cpu;
                $(
                    let DynamicBuffer::Cpu(other) = $operand.buffer else { return Err(device_mismatch_with("cpu".to_owned(), $operand.buffer)) };
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
                        return Err(device_mismatch_with(buffer.device().name(), $operand.buffer));
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
pub(super) use dispatch_write;

/// `dispatch_alloc!(D: beside => D::zeroed::<E>(beside, len))` makes storage on the device of another one, if given, else on the host.
macro_rules! dispatch_alloc {
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

/// A device with data, whose storage a `DynamicBuffer` can hold.
pub(super) trait There: Backend {
    /// The storage of a buffer, if it is on the same device as `own`.
    fn there<'a>(buffer: &'a DynamicBuffer, own: &Self::Storage) -> Option<&'a Self::Storage>;

    /// The name of the device.
    fn name_of(own: &Self::Storage) -> String;

    /// Another operand, which must be on the same device.
    fn joining<'a, E>(view: View<'a, DynamicBuffer, E>, own: &Self::Storage) -> Result<View<'a, Self::Storage, E>> {
        match Self::there(view.buffer, own) {
            Some(buffer) => Ok(view.over(buffer)),
            None => Err(device_mismatch_with(Self::name_of(own), view.buffer)),
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
