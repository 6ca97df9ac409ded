//! The loops of the tables over elements of a GPU: what a kernel is given of each operand.
//!
//! Uses `device::cuda`; used by `erased`.

use super::DynamicBuffer;
use super::erased::{Cast, ErasedView, Loop, Operand};
use crate::cuda::CudaDevice;
use crate::device::cuda::erased::Call;
use crate::device::{AnyDevice, DeviceType};
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::arguments::Distribution;
use crate::ops::text::erased::{Converted, Given};

impl<const N: usize> Loop<N> {
    /// What a GPU is called with.
    pub(super) fn on_gpu(&self, cast: Option<Cast>) -> Call<N> {
        Call { text: self.compiled.text, kernel: self.kernel, result: cast.map(|cast| cast.chain()) }
    }
}

/// The GPU that this device is.
pub(super) fn gpu(device: AnyDevice) -> Result<&'static CudaDevice> {
    crate::cuda::device(device.index().unwrap_or(0))
}

/// The GPU that operands are on, if one of them is on one, and all have data.
pub(super) fn device_of(operands: &[Operand<'_>]) -> Option<&'static CudaDevice> {
    let buffers = || operands.iter().filter_map(|operand| operand.view.map(|view| view.buffer));
    if buffers().any(|buffer| matches!(buffer, DynamicBuffer::Meta)) {
        return None;
    }
    buffers().find_map(|buffer| match buffer {
        DynamicBuffer::Cuda(buffer) => Some(buffer.device()),
        _ => None,
    })
}

/// So many elements drawn by the device on which tensors are made, if that is a GPU.
pub(super) fn draw<E: Element>(
    distribution: Distribution,
    seed: impl FnOnce() -> u64,
    len: usize,
) -> Result<Option<DynamicBuffer>> {
    let device = crate::device::default_device();
    if device.kind() != DeviceType::CUDA {
        return Ok(None);
    }
    crate::device::cuda::random::draw::<E>(gpu(device)?, distribution, seed(), len)
        .map(|drawn| Some(DynamicBuffer::Cuda(drawn)))
}

/// What a kernel on a GPU is given: elements there, or the one element of a tensor on the host.
pub(super) fn given(device: &'static CudaDevice, view: &ErasedView<'_>) -> Result<Given> {
    let is_one = view.strides.iter().zip(view.sizes).all(|(&stride, &size)| stride == 0 || size == 1);
    match view.buffer {
        DynamicBuffer::Cuda(buffer) if buffer.device().ordinal() == device.ordinal() => {
            Ok(Given::Elements(view.on_gpu(buffer).operand()))
        }
        DynamicBuffer::Cpu(buffer) if is_one && !view.sizes.contains(&0) => {
            let mut bytes = [0; 16];
            // SAFETY: the view has an element, which is so many bytes.
            unsafe { core::ptr::copy_nonoverlapping(view.start(buffer), bytes.as_mut_ptr(), view.width) };
            Ok(Given::One(bytes))
        }
        DynamicBuffer::Cpu(_) if view.sizes.contains(&0) => Ok(Given::One([0; 16])),
        other => Err(super::on::apart_from(device.name(), other)),
    }
}

/// [`run`](super::erased::run) on a GPU.
///
/// # Safety
/// As there.
pub(super) unsafe fn run_on<const N: usize>(
    device: &'static CudaDevice,
    call: Loop<N>,
    operands: &[Operand<'_>],
    cast: Option<Cast>,
    sizes: &[usize],
    strides: &[usize],
) -> Result<DynamicBuffer> {
    let converted = |operand: &Operand<'_>| {
        let view = operand.view.unwrap_or_else(|| unreachable!("a fresh result is no operand"));
        Ok(Converted { given: given(device, &view)?, chain: operand.cast.map(|cast| cast.chain()) })
    };
    let operands = operands.iter().map(converted).collect::<Result<Vec<_>>>()?;
    // SAFETY: the caller's promise.
    unsafe { call.on_gpu(cast).fresh(device, &operands, sizes, strides).map(DynamicBuffer::Cuda) }
}
