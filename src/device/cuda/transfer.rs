//! Copies between the host and a GPU, and between GPUs, without a list in between.
//!
//! Uses `cuda`; used by conversions between devices.

use super::memory::reach;
use crate::cuda::{CudaBuffer, device};
use crate::device::{AnyDevice, Backend, Device};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides::is_contiguous;
use crate::storage::{HostBuffer, View};
use core::any::Any;

/// The elements of a contiguous view, copied to another device; `None` where there is no shorter way than by a list on the host.
///
/// `target` is the device `X` as a value.
pub(crate) fn transfer<E: Element, D: Backend, X: Device>(
    view: &View<'_, D::Storage, E>,
) -> Option<Result<X::Storage>> {
    let target = X::default().into_device().ok().filter(|target| is_cuda(*target))?.index()?;
    if !is_contiguous(view.sizes, view.strides) {
        return None;
    }
    let storage: &dyn Any = view.buffer;
    let copy = if let Some(host) = storage.downcast_ref::<HostBuffer>() {
        upload(View::<_, E>::new(host, view.offset, view.sizes, view.strides), target)
    } else {
        let buffer = storage.downcast_ref::<CudaBuffer>()?;
        let from = View::<_, E>::new(buffer, view.offset, view.sizes, view.strides);
        reach("to_device", &from).and_then(|(at, bytes)| buffer.copied(at, bytes, device(target)?))
    };
    // The storage of `X`, a CUDA device, is this one.
    let mut typed: Option<X::Storage> = None;
    match copy {
        Ok(buffer) => *(&mut typed as &mut dyn Any).downcast_mut::<Option<CudaBuffer>>()? = Some(buffer),
        Err(error) => return Some(Err(error)),
    }
    typed.map(Ok)
}

fn is_cuda(device: AnyDevice) -> bool {
    device.kind() == crate::device::DeviceType::CUDA
}

fn upload<E: Element>(view: View<'_, HostBuffer, E>, target: usize) -> Result<CudaBuffer> {
    let len = crate::shape::numel(view.sizes).unwrap_or(0);
    // SAFETY: a contiguous view has so many elements from its offset on; one of none may start behind the end.
    let elements = unsafe { core::slice::from_raw_parts(view.buffer.start::<E>().wrapping_add(view.offset), len) };
    CudaBuffer::upload(device(target)?, elements)
}
