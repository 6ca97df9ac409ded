//! Tensors of a GPU and the crate `cudarc`: each other's memory without a copy, in the order of each other's work. (Feature `cudarc`.)
//!
//! Other crates' kernels run on castiron's tensors, and castiron's operations on memory of other crates:
//!
//! ```
//! use castiron::gpu::cudarc::{self, driver::CudaSlice};
//! use castiron::{Cuda, Tensor, shape, tensor};
//! # fn main() -> castiron::Result<()> {
//! # if tensor![1.0].cuda().is_err() { return Ok(()) }
//! let stream = cudarc::stream("cuda:0")?; // castiron's, or one of one's own: `context("cuda:0")?.new_stream()`
//! let x: Tensor<f32, shape![2, 2], Cuda<0>> = tensor![[1.0, 2.0], [3.0, 4.0]].cuda()?;
//! // Read: `view.view()` is an argument of kernels.
//! let view = x.to_cudarc(&stream)?;
//! let copy: Vec<f32> = stream.clone_dtoh(&*view).unwrap();
//! stream.synchronize().unwrap();
//! assert_eq!(copy, [1.0, 2.0, 3.0, 4.0]);
//! drop(view);
//! // Written: the slice owns the memory, until it is a tensor again.
//! let mut slice: CudaSlice<f32> = x.into_cudarc(&stream)?;
//! stream.memset_zeros(&mut slice.slice_mut(..2)).unwrap();
//! let x: Tensor<f32, shape![2, 2], Cuda<0>> = Tensor::from_cudarc(slice)?;
//! assert_eq!(x.cpu()?.to_vec(), [0.0, 0.0, 3.0, 4.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//! Castiron's work on a device is in the order of one stream, [`stream`], which is a `CudaStream` of `cudarc`: what is launched on it comes after what castiron
//! began, and before what it begins next. `stream("cuda:0")?.wait(&event)` lets castiron wait for an event, and `record_event` records where castiron
//! is. Another stream is given to the functions here: it waits for castiron's work when it gets the memory, and castiron waits for it when the memory
//! comes back. Uses on a third stream are tracked by `cudarc` as those of any slice of that stream are.
//!
//! `cudarc` loads the driver by its own search, in which `CASTIRON_CUDA_LIB` has no part. Its version is that of [`driver`]; its build script chooses bindings by the toolkit
//! that `nvcc` belongs to, or by `CUDARC_CUDA_VERSION`.

use crate::cuda::{CudaBuffer, CudaDevice};
use crate::device::{Backend, Cuda, IntoDevice, gpu};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::shape::{KnownShape, Shape, numel};
use crate::tensor::{Tensor, expect_fit};
#[doc(no_inline)]
pub use ::cudarc::{driver, nvrtc::Ptx};
use core::mem::ManuallyDrop;
use core::ops::Deref;
use driver::{CudaContext, CudaSlice, CudaStream, CudaView, DevicePtrMut, DriverError};
use std::sync::{Arc, Mutex, PoisonError};

/// A device as `cudarc` knows it.
#[derive(Clone)]
struct Known {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
}

/// The context of a GPU, which castiron's tensors are in: the primary one.
///
/// # Errors
/// If the device is no CUDA device or not available, or `cudarc` does not find the driver.
pub fn context(device: impl IntoDevice) -> Result<Arc<CudaContext>> {
    Ok(known("cudarc::context", gpu("cudarc::context", device)?)?.context)
}

/// The stream of a GPU, on which castiron's work runs in the order in which it began.
///
/// # Errors
/// As for [`context`].
pub fn stream(device: impl IntoDevice) -> Result<Arc<CudaStream>> {
    Ok(known("cudarc::stream", gpu("cudarc::stream", device)?)?.stream)
}

/// Converts an error of `cudarc`.
fn checked<T>(op: &'static str, device: &CudaDevice, result: core::result::Result<T, DriverError>) -> Result<T> {
    result.map_err(|DriverError(code)| match device.check(op, code as u32) {
        Err(error) => error,
        Ok(()) => device.error(op, "the driver names no error".to_owned()),
    })
}

fn known(op: &'static str, device: &'static CudaDevice) -> Result<Known> {
    static KNOWN: Mutex<Vec<(usize, Known)>> = Mutex::new(Vec::new());
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.iter().find(|(ordinal, _)| *ordinal == device.ordinal()) {
        return Ok(known.clone());
    }
    // SAFETY: it opens the vendor's library, whose initialisers have no requirements.
    if !unsafe { driver::sys::is_culib_present() } {
        return Err(
            device.error(op, "`cudarc` does not find the driver: name its folder in `LD_LIBRARY_PATH`".to_owned())
        );
    }
    let context = checked(op, device, CudaContext::new(device.ordinal()))?;
    if context.cu_ctx() != device.context.cast() {
        return Err(device.error(op, "`cudarc` has loaded another driver than castiron".to_owned()));
    }
    // SAFETY: it is a stream of this context, and is never destroyed. Work on it is ordered with castiron's by the stream itself.
    let stream = unsafe { context.wrap_borrowed_stream(device.stream.cast()) };
    let known = Known { context, stream };
    all.push((device.ordinal(), known.clone()));
    Ok(known)
}

/// What `cudarc` knows of a device, if the stream is one of its context.
fn known_beside(op: &'static str, device: &'static CudaDevice, stream: &CudaStream) -> Result<Known> {
    crate::cuda::recording::expect_off(op, "other crates' work is none of it")?;
    let known = known(op, device)?;
    if stream.context().cu_ctx() == device.context.cast() {
        return Ok(known);
    }
    let of = stream.context().ordinal();
    invalid(
        op,
        format!(
            "the stream is one of device {of}, or of a context of its own, and the tensor is on `{}`",
            device.name()
        ),
    )
}

/// What `stream` begins from now on comes after what `other` has begun.
fn wait_for(op: &'static str, device: &CudaDevice, stream: &CudaStream, other: &CudaStream) -> Result<()> {
    if stream.cu_stream() == other.cu_stream() {
        return Ok(());
    }
    checked(op, device, stream.join(other))
}

/// A slice over memory of a device, on a stream that waits for castiron's.
///
/// # Safety
/// The elements are there, and are valid. If the slice is dropped, it frees them.
unsafe fn slice_on<E>(
    op: &'static str,
    device: &'static CudaDevice,
    (address, len): (u64, usize),
    known: &Known,
    stream: &Arc<CudaStream>,
) -> Result<CudaSlice<E>> {
    wait_for(op, device, stream, &known.stream)?;
    // (`cudarc` panics where it can't make the slice's events: this says it before.)
    checked(op, device, stream.context().new_event(None))?;
    // SAFETY: the caller's promise.
    Ok(unsafe { stream.upgrade_device_ptr(address, len) })
}

fn expect_elements(op: &'static str, len: usize) -> Result<()> {
    if len == 0 { invalid(op, "a tensor without elements has no memory".to_owned()) } else { Ok(()) }
}

impl<E: Element, S: Shape, const N: usize> Tensor<E, S, Cuda<N>> {
    /// The elements as a slice of `cudarc`, for reading, in row-major order. Without a copy if they are in that order: the memory is shared, so that castiron
    /// copies before it writes to the tensor while the slice exists. (Feature `cudarc`.)
    ///
    /// # Errors
    /// If the tensor has no elements, the stream is one of another device, or there is no memory for a copy.
    pub fn to_cudarc(&self, stream: &Arc<CudaStream>) -> Result<SharedSlice<E>> {
        const OP: &str = "to_cudarc";
        let device = self.storage().device();
        let known = known_beside(OP, device, stream)?;
        expect_elements(OP, self.numel())?;
        let tensor = self.try_contiguous()?;
        let place = (Cuda::<N>::address(tensor.elements()).addr() as u64, tensor.numel());
        // SAFETY: the elements exist as long as the buffer, which is dropped after the slice; the slice is never dropped itself.
        let slice = unsafe { slice_on(OP, device, place, &known, stream)? };
        Ok(SharedSlice { slice: ManuallyDrop::new(slice), buffer: tensor.parts.storage, known })
    }

    /// Gives the elements to `cudarc`, in row-major order, to be read and written. Without a copy, unless they are shared with another tensor, a part of
    /// one, or in another order. (Feature `cudarc`.)
    ///
    /// # Errors
    /// As for [`to_cudarc`](Self::to_cudarc).
    pub fn into_cudarc(self, stream: &Arc<CudaStream>) -> Result<CudaSlice<E>> {
        const OP: &str = "into_cudarc";
        let device = self.storage().device();
        let known = known_beside(OP, device, stream)?;
        expect_elements(OP, self.numel())?;
        let mut tensor = self;
        let is_whole = tensor.is_contiguous() && Cuda::<N>::holds::<E>(tensor.storage(), tensor.numel());
        if !is_whole || tensor.storage().is_fixed() || !tensor.parts.storage.is_unique() {
            let strides = strides::contiguous(&tensor.shape());
            let copy = Cuda::<N>::map1::<E, E>(Copying, tensor.elements(), strides.as_ref())?;
            tensor = Tensor::from_parts(copy, 0, tensor.shape(), strides);
        }
        let place = (tensor.storage().address(), tensor.numel());
        // SAFETY: the buffer is whole and unique, and gives its memory away just below; until then the slice is not dropped.
        let slice = ManuallyDrop::new(unsafe { slice_on(OP, device, place, &known, stream)? });
        match tensor.parts.storage.released() {
            Some(_) => Ok(ManuallyDrop::into_inner(slice)),
            None => Err(device.error(OP, "a graph that was recorded keeps the memory".to_owned())),
        }
    }

    /// A tensor of a slice's elements in row-major order, without a copy. It owns the memory; castiron's work on it comes after what the slice's stream
    /// has begun. (Feature `cudarc`.)
    ///
    /// # Errors
    /// If the slice has another number of elements than the shape, or is one of another device, or the limit of memory is reached.
    pub fn from_cudarc(slice: CudaSlice<E>) -> Result<Self>
    where
        S: KnownShape,
    {
        Self::from_cudarc_sized(slice, S::SIZES)
    }

    /// [`from_cudarc`](Self::from_cudarc) with sizes known at run time: takes all of them.
    ///
    /// # Errors
    /// As for [`from_cudarc`](Self::from_cudarc).
    pub fn from_cudarc_sized(mut slice: CudaSlice<E>, sizes: S::Sizes) -> Result<Self> {
        const OP: &str = "from_cudarc";
        expect_fit::<S>(OP, sizes.as_ref())?;
        let expected = numel(sizes.as_ref()).unwrap_or(usize::MAX);
        if expected != slice.len() {
            return Err(crate::Error::Length { op: OP, sizes: sizes.as_ref().into(), expected, found: slice.len() });
        }
        let device = crate::cuda::device(N)?;
        let stream = slice.stream().clone();
        let known = known_beside(OP, device, &stream)?;
        expect_elements(OP, expected)?;
        // The slice's stream waits for what was tracked on others, and castiron's for that stream.
        let (address, uses) = slice.device_ptr_mut(&stream);
        drop(uses);
        wait_for(OP, device, &known.stream, &stream)?;
        if address % 16 != 0 {
            return invalid(OP, "the slice is not aligned to 16 bytes".to_owned());
        }
        // SAFETY: the slice owns the allocation, and is leaked just below; its uses come before.
        let buffer = unsafe { CudaBuffer::adopted(device, address, slice.num_bytes())? };
        slice.leak();
        Ok(Tensor::from_parts(buffer, 0, sizes, strides::contiguous(&sizes)))
    }
}

/// A tensor's elements as a `CudaSlice` that is read: see [`Tensor::to_cudarc`]. It dereferences to the slice; castiron's work after it is dropped comes
/// after its uses.
pub struct SharedSlice<E: Element> {
    /// Never dropped, because it would free the memory.
    slice: ManuallyDrop<CudaSlice<E>>,
    /// Keeps the memory.
    buffer: CudaBuffer,
    known: Known,
}

impl<E: Element> SharedSlice<E> {
    /// The elements as an argument of kernels (`launch_builder.arg(&view)`).
    pub fn view(&self) -> CudaView<'_, E> {
        self.slice.as_view()
    }
}
impl<E: Element> Deref for SharedSlice<E> {
    type Target = CudaSlice<E>;
    fn deref(&self) -> &CudaSlice<E> {
        &self.slice
    }
}
impl<E: Element> core::fmt::Debug for SharedSlice<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("SharedSlice").field(&*self.slice).finish()
    }
}
impl<E: Element> Drop for SharedSlice<E> {
    fn drop(&mut self) {
        let stream = self.slice.stream().clone();
        // SAFETY: this is the end of the slice, which is not used again.
        let slice = unsafe { ManuallyDrop::take(&mut self.slice) };
        // Its stream waits for tracked uses on others, and its events are dropped.
        slice.leak();
        let device = self.buffer.device();
        if wait_for("to_cudarc", device, &self.known.stream, &stream).is_err() {
            // Waits on the host where there is no event; a lost device has nothing to wait for.
            let _ = stream.synchronize();
        }
    }
}
