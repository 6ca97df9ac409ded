//! Copies between the host and a GPU, and between GPUs, without an intermediate list.

use super::memory::reach;
use crate::cuda::{CudaBuffer, device};
use crate::device::{AnyDevice, Backend, Device};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides::is_contiguous;
use crate::storage::{HostBuffer, View};
use core::any::Any;

/// Copies the elements of a contiguous view to another device; `None` if there is no faster way than a list on the host.
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
    // The storage of `X`, a CUDA device, is this type.
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
    // SAFETY: a contiguous view has `len` elements from its offset on; an empty one may start past the end.
    let elements = unsafe { core::slice::from_raw_parts(view.buffer.start::<E>().wrapping_add(view.offset), len) };
    CudaBuffer::upload(device(target)?, elements)
}
