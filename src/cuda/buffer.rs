//! `CudaBuffer`: a reference-counted block of a GPU's memory.

use super::device::CudaDevice;
use super::recording;
use super::staging::LARGE;
use crate::error::{Error, Result, room};
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A reference-counted block of a GPU's memory, freed in stream order. Shared by [`shared`](Self::shared); written only while not shared.
///
/// A buffer may also be a window on another one, which is written in place: it refers to borrowed memory, so it gives no handles except
/// while it is lent.
#[derive(Debug)]
pub struct CudaBuffer {
    block: Arc<Block>,
    /// For a window: whether it gives handles.
    window: Option<Arc<AtomicBool>>,
}

/// What handles share, and are counted by.
#[derive(Debug)]
struct Block {
    memory: Arc<Memory>,
}

impl Drop for Block {
    fn drop(&mut self) {
        recording::dropped(&self.memory);
    }
}

/// The owned memory; no allocation if it is empty. (Graphs keep it, too, which is no use by another tensor.)
#[derive(Debug)]
pub(super) struct Memory {
    device: &'static CudaDevice,
    pub(super) address: u64,
    pub(super) bytes: usize,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        self.device.used.fetch_sub(self.bytes, Ordering::Relaxed);
        // A lost device has lost its memory, too.
        if self.device.enter("free").is_ok() {
            // SAFETY: this was the last handle; all uses of the memory come earlier in the stream. (At process exit the driver may refuse,
            // which can be ignored.)
            let _ = unsafe { (self.device.driver.cuMemFreeAsync)(self.address, self.device.stream) };
        }
    }
}

/// CUDA_ERROR_OUT_OF_MEMORY
const OUT_OF_MEMORY: u32 = 2;

fn allocate(device: &'static CudaDevice, bytes: usize) -> Result<Arc<Block>> {
    let block = |memory: Arc<Memory>| Ok(Arc::new(Block { memory }));
    if bytes == 0 {
        return block(Arc::new(Memory { device, address: 0, bytes }));
    }
    device.enter("allocate")?;
    if let Some(memory) = recording::reused(bytes) {
        return block(memory);
    }
    let exhausted = || {
        let (free, total) = device.room();
        Err(Error::CudaOutOfMemory { device: device.name(), bytes, free, total })
    };
    if !device.reserve(bytes) {
        return exhausted();
    }
    let allocated = allocated(device, bytes);
    if allocated.is_err() {
        device.used.fetch_sub(bytes, Ordering::Relaxed);
    }
    match allocated? {
        Some(address) => {
            let memory = Arc::new(Memory { device, address, bytes });
            if recording::is_on() {
                // Nothing runs that writes it until the graph is replayed, and the closure may have passed it on: any dtype may be zero.
                // SAFETY: it has that many bytes. It is not the stream that captures.
                let code = unsafe { (device.driver.cuMemsetD8Async)(address, 0, bytes, device.stream) };
                device.check("allocate", code)?;
                recording::made(&memory);
            }
            block(memory)
        }
        None => exhausted(),
    }
}

/// The address of new memory; `None` if there is none.
fn allocated(device: &CudaDevice, bytes: usize) -> Result<Option<u64>> {
    let mut address = 0;
    // SAFETY: it writes the address; the pool belongs to the device. (A graph's memory is allocated here, and not by the graph.)
    let mut ask =
        || unsafe { (device.driver.cuMemAllocFromPoolAsync)(&mut address, bytes, device.pool, device.stream) };
    let mut code = ask();
    if code == OUT_OF_MEMORY && !recording::is_on() {
        // Freed memory becomes available when the stream has reached the free.
        device.trim("allocate")?;
        code = ask();
    }
    if code == OUT_OF_MEMORY {
        return Ok(None);
    }
    device.check("allocate", code)?;
    Ok(Some(address))
}

impl CudaBuffer {
    /// Uninitialised memory.
    ///
    /// # Safety
    /// All of it is written by work on the device's stream before a view of it is made.
    pub(crate) unsafe fn uninitialised(device: &'static CudaDevice, bytes: usize) -> Result<Self> {
        Ok(CudaBuffer { block: allocate(device, bytes)?, window: None })
    }

    /// Memory that another library allocated, which is ours from here on, and is freed on the device's stream.
    ///
    /// # Safety
    /// It is an allocation of the device that may be freed on a stream, of at least this many bytes, which nobody else uses or frees; work that others
    /// began on it comes before what the device's stream begins now.
    #[cfg(feature = "cudarc")]
    pub(crate) unsafe fn adopted(device: &'static CudaDevice, address: u64, bytes: usize) -> Result<Self> {
        if !device.reserve(bytes) {
            let (free, total) = device.room();
            return Err(Error::CudaOutOfMemory { device: device.name(), bytes, free, total });
        }
        let memory = Arc::new(Memory { device, address, bytes });
        Ok(CudaBuffer { block: Arc::new(Block { memory }), window: None })
    }

    /// The address of memory that is not freed any more: whoever takes it does that. `None` if the memory is shared or borrowed.
    #[cfg(feature = "cudarc")]
    pub(crate) fn released(self) -> Option<u64> {
        if self.window.is_some() {
            return None;
        }
        let memory = Arc::clone(&Arc::into_inner(self.block)?.memory);
        let mut memory = Arc::into_inner(memory)?;
        memory.device.used.fetch_sub(memory.bytes, Ordering::Relaxed);
        // (Memory without bytes has nothing to free.)
        memory.bytes = 0;
        Some(memory.address)
    }

    /// Zeros.
    pub(crate) fn zeroed(device: &'static CudaDevice, bytes: usize) -> Result<Self> {
        Self::filled(device, bytes, 0_u8)
    }

    /// Memory filled with a number of one, two or four bytes.
    pub(crate) fn filled<P: Pattern>(device: &'static CudaDevice, len: usize, value: P) -> Result<Self> {
        let bytes = bytes_of(device, len, size_of::<P>())?;
        // SAFETY: it is filled just below.
        let buffer = unsafe { Self::uninitialised(device, bytes)? };
        if bytes != 0 {
            // SAFETY: there is room for `len` of them.
            device.check("fill", unsafe { value.fill(device, buffer.address(), len) })?;
        }
        Ok(buffer)
    }

    /// A copy of host elements, which have been read when this returns.
    pub(crate) fn upload<E: Copy>(device: &'static CudaDevice, elements: &[E]) -> Result<Self> {
        recording::expect_off("upload", "elements of the host are copied to the GPU: pass the tensor to the closure")?;
        let bytes = size_of_val(elements);
        // SAFETY: it is written just below.
        let buffer = unsafe { Self::uninitialised(device, bytes)? };
        let (from, to) = (elements.as_ptr().cast::<u8>(), buffer.address());
        // SAFETY: both have that many bytes; allocating has entered the context.
        if bytes >= LARGE && unsafe { device.staging.upload(device, from, to, bytes)? } {
            if device.waits() {
                device.wait("upload")?;
            }
            return Ok(buffer);
        }
        if bytes != 0 {
            // SAFETY: both have that many bytes; the elements live until the stream has been synchronised.
            let code = unsafe { (device.driver.cuMemcpyHtoDAsync_v2)(to, from.cast(), bytes, device.stream()) };
            device.check("upload", code)?;
            device.wait("upload")?;
        }
        Ok(buffer)
    }

    /// Copies bytes to the host, from byte `at` on, and waits for them.
    ///
    /// # Safety
    /// `to` has room for `bytes` bytes.
    pub(crate) unsafe fn read(&self, at: usize, bytes: usize, to: *mut u8) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        recording::expect_off("download", "the host reads elements: return the tensor from the closure")?;
        let device = self.device();
        let from = self.part("download", at, bytes)?;
        device.enter("download")?;
        // SAFETY: the bytes are inside the block, and `to` has room for them.
        if bytes >= LARGE && unsafe { device.staging.download(device, from, to, bytes)? } {
            return Ok(());
        }
        // SAFETY: the bytes are inside the block, and `to` has room for them.
        let code = unsafe { (device.driver.cuMemcpyDtoHAsync_v2)(to.cast(), from, bytes, device.stream()) };
        device.check("download", code)?;
        device.wait("download")
    }

    /// `len` elements from byte `at` on, copied to the host.
    ///
    /// # Safety
    /// They are valid elements.
    pub(crate) unsafe fn elements<E: Copy>(&self, at: usize, len: usize) -> Result<Vec<E>> {
        let mut elements = room::<E>(len)?;
        // SAFETY: there is room for `len` elements, and the length is set after all are written.
        unsafe {
            self.read(at, len * size_of::<E>(), elements.as_mut_ptr().cast())?;
            elements.set_len(len);
        }
        Ok(elements)
    }

    /// A copy of bytes, from byte `at` on, to this or another device.
    pub(crate) fn copied(&self, at: usize, bytes: usize, to: &'static CudaDevice) -> Result<Self> {
        let from = self.device();
        // SAFETY: it is written just below.
        let copy = unsafe { Self::uninitialised(to, bytes)? };
        if bytes == 0 {
            return Ok(copy);
        }
        let start = self.part("copy", at, bytes)?;
        if from.ordinal() == to.ordinal() {
            to.enter("copy")?;
            // SAFETY: both have that many bytes; later work on the stream comes after the copy.
            let code = unsafe { (to.driver.cuMemcpyDtoDAsync_v2)(copy.address(), start, bytes, to.stream()) };
            to.check("copy", code)?;
            return Ok(copy);
        }
        // The streams of two devices are not ordered: waits for the work that writes the elements, and then for the copy, after which they
        // may be freed.
        from.synchronize()?;
        to.enter("copy")?;
        // SAFETY: as above; the contexts are those of the two blocks.
        let code = unsafe {
            (to.driver.cuMemcpyPeerAsync)(copy.address(), to.context, start, from.context, bytes, to.stream())
        };
        to.check("copy", code)?;
        to.wait("copy")?;
        Ok(copy)
    }

    /// The address of a range of bytes, which must be in bounds.
    fn part(&self, op: &'static str, at: usize, bytes: usize) -> Result<u64> {
        match at.checked_add(bytes) {
            Some(end) if end <= self.bytes() => Ok(self.address() + at as u64),
            _ => Err(self
                .device()
                .error(op, format!("bytes from {at} on, {bytes} of them, are not inside a block of {}", self.bytes()))),
        }
    }

    /// The device of the memory.
    pub(crate) fn device(&self) -> &'static CudaDevice {
        self.block.memory.device
    }

    /// The address of the first byte; 0 for an empty buffer.
    pub(crate) fn address(&self) -> u64 {
        recording::used(&self.block.memory);
        self.block.memory.address
    }

    /// Number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.block.memory.bytes
    }

    /// Number of elements of type `E`.
    pub(crate) fn len<E>(&self) -> usize {
        self.bytes() / size_of::<E>()
    }

    /// Another handle to the block; `None` for a window, because the handle could outlive the borrow.
    pub(crate) fn shared(&self) -> Option<Self> {
        let lends = |lends: &Arc<AtomicBool>| lends.load(Ordering::Relaxed);
        self.window.as_ref().is_none_or(lends).then(|| self.again(self.window.clone()))
    }

    fn again(&self, window: Option<Arc<AtomicBool>>) -> Self {
        CudaBuffer { block: Arc::clone(&self.block), window }
    }

    /// A handle that can be shared even if it is a window, until `close`. (Device memory is only borrowed by windows, so an extra handle
    /// keeps the block alive and does not endanger memory safety.)
    pub(crate) fn lent(&self) -> Self {
        self.shared().unwrap_or_else(|| self.again(Some(Arc::new(AtomicBool::new(true)))))
    }

    /// Ends `lent`: no more handles of a window are made.
    pub(crate) fn close(&self) {
        if let Some(lends) = &self.window {
            lends.store(false, Ordering::Relaxed);
        }
    }

    /// The same memory, for writing in place.
    pub(crate) fn window(&mut self) -> Self {
        self.again(Some(Arc::new(AtomicBool::new(false))))
    }

    /// Whether elements are written in place even if shared: it is a window.
    pub(crate) fn is_fixed(&self) -> bool {
        self.window.is_some()
    }

    /// Whether the block may be written: it is not shared, or it is a window.
    pub(crate) fn is_unique(&mut self) -> bool {
        self.window.is_some() || Arc::get_mut(&mut self.block).is_some()
    }

    /// The number of handles, and the address, of its memory.
    pub(crate) fn handles(&self) -> (usize, u64) {
        (Arc::strong_count(&self.block), self.block.memory.address)
    }

    /// Whether both are the same memory.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block)
    }
}

/// The bytes of `len` elements of the given size.
pub(crate) fn bytes_of(device: &'static CudaDevice, len: usize, size: usize) -> Result<usize> {
    let too_large = || {
        let (free, total) = device.room();
        Error::CudaOutOfMemory { device: device.name(), bytes: usize::MAX, free, total }
    };
    len.checked_mul(size).filter(|&bytes| bytes <= isize::MAX as usize).ok_or_else(too_large)
}

/// A number that the driver can fill memory with.
pub(crate) trait Pattern: Copy {
    /// Starts the fill, and returns the driver's status.
    ///
    /// # Safety
    /// There is room for `len` numbers at the address, which is aligned for them.
    unsafe fn fill(self, device: &CudaDevice, address: u64, len: usize) -> u32;
}

macro_rules! patterns {
    ($($number:ty: $function:ident;)*) => {$(
        impl Pattern for $number {
            unsafe fn fill(self, device: &CudaDevice, address: u64, len: usize) -> u32 {
                // SAFETY: the caller's promise.
                unsafe { (device.driver.$function)(address, self, len, device.stream()) }
            }
        }
    )*};
}
patterns! {
    u8: cuMemsetD8Async;
    u16: cuMemsetD16Async;
    u32: cuMemsetD32Async;
}
