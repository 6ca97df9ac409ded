//! `CudaDevice`: a GPU with its context, its only stream and its memory pool.

use super::bindings::cu;
use super::blas::Blas;
use super::compile::Kernels;
use super::driver::{self, Driver};
use super::recording;
use super::staging::Staging;
use crate::error::{Error, Result, invalid};
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// Number of ordinals that a device value can hold.
const ORDINALS: usize = i8::MAX as usize + 1;

/// A GPU. One value per device, for the lifetime of the process.
pub(crate) struct CudaDevice {
    pub(super) ordinal: usize,
    pub(super) driver: &'static Driver,
    pub(crate) context: cu::CUcontext,
    pub(crate) stream: cu::CUstream,
    pub(super) pool: cu::CUmemoryPool,
    capability: (u32, u32),
    /// The error that made the device unusable.
    poison: OnceLock<String>,
    /// Bytes held by buffers, and their limit.
    pub(super) used: AtomicUsize,
    limit: AtomicUsize,
    pub(super) kernels: Kernels,
    pub(super) blas: Blas,
    pub(super) staging: Staging,
    waits: bool,
}

// SAFETY: the driver's handles may be used by any thread with the context current, which `enter` ensures.
unsafe impl Send for CudaDevice {}
// SAFETY: as above; the driver's functions are thread-safe.
unsafe impl Sync for CudaDevice {}

impl core::fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.name())
    }
}

/// The device with an ordinal, initialised on first use.
///
/// # Errors
/// If it is not available: the error says what is missing.
pub(crate) fn device(ordinal: usize) -> Result<&'static CudaDevice> {
    static DEVICES: [OnceLock<Result<CudaDevice>>; ORDINALS] = [const { OnceLock::new() }; ORDINALS];
    match DEVICES.get(ordinal) {
        Some(place) => place.get_or_init(|| open(ordinal)).as_ref().map_err(Error::clone),
        None => unavailable(ordinal, "ordinals are less than 128"),
    }
}

/// Number of devices; 0 without CUDA.
pub(crate) fn count() -> usize {
    driver::driver().map_or(0, |(_, count)| count)
}

fn unavailable<T>(ordinal: usize, reason: &'static str) -> Result<T> {
    Err(Error::DeviceUnavailable { device: format!("cuda:{ordinal}"), reason })
}

/// Like [`unavailable`], with a text made once per ordinal.
fn refused<T>(ordinal: usize, reason: String) -> Result<T> {
    unavailable(ordinal, Box::leak(reason.into_boxed_str()))
}

fn open(ordinal: usize) -> Result<CudaDevice> {
    let (driver, count) = match driver::driver() {
        Ok(found) => found,
        Err(reason) => return unavailable(ordinal, reason),
    };
    if ordinal >= count {
        return refused(
            ordinal,
            match count {
                1 => "there is one CUDA device, `cuda:0`".to_owned(),
                _ => format!("there are {count} CUDA devices, `cuda:0` to `cuda:{}`", count - 1),
            },
        );
    }
    let check = |what: &str, code: u32| match code {
        0 => Ok(()),
        _ => refused(ordinal, format!("{what}: {}", driver.describe(code))),
    };
    let mut id = 0;
    let (mut context, mut stream, mut pool) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: each call writes its first argument; `id` is valid once the first one has succeeded.
    unsafe {
        check("the driver does not give the device", (driver.cuDeviceGet)(&mut id, ordinal as c_int))?;
        let attribute = |which| {
            let mut value = 0;
            check("the device has no such attribute", (driver.cuDeviceGetAttribute)(&mut value, which, id))
                .map(|()| value as u32)
        };
        use cu::CUdevice_attribute as Attribute;
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        if attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? == 0 {
            return unavailable(
                ordinal,
                "the device has no memory pools (`cudaMallocAsync`), which castiron allocates from",
            );
        }
        // The primary context, shared with the CUDA runtime and all other libraries in the process.
        check("the device gives no context", (driver.cuDevicePrimaryCtxRetain)(&mut context, id))?;
        check("the context can't be used", (driver.cuCtxSetCurrent)(context))?;
        // A stream that does not synchronise with the default stream.
        let kind = cu::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        check("the device gives no stream", (driver.cuStreamCreate)(&mut stream, kind))?;
        check("the device gives no memory pool", (driver.cuDeviceGetDefaultMemPool)(&mut pool, id))?;
        // Otherwise the pool returns all free memory to the system at each synchronisation.
        check("the memory pool can't be set up", keep(driver, pool, u64::MAX))?;
        let waits = std::env::var_os("CASTIRON_CUDA_SYNC").is_some_and(|value| value == "1");
        Ok(CudaDevice {
            ordinal,
            driver,
            context,
            stream,
            pool,
            capability,
            poison: OnceLock::new(),
            used: AtomicUsize::new(0),
            limit: AtomicUsize::new(usize::MAX),
            kernels: Kernels::default(),
            blas: Blas::default(),
            staging: Staging::default(),
            waits,
        })
    }
}

/// Sets how many bytes a pool keeps at synchronisation, and returns the driver's status.
///
/// # Safety
/// The pool was created by the driver.
unsafe fn keep(driver: &Driver, pool: cu::CUmemoryPool, mut bytes: u64) -> u32 {
    let threshold = cu::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the attribute is a 64-bit number.
    unsafe { (driver.cuMemPoolSetAttribute)(pool, threshold, (&raw mut bytes).cast::<c_void>()) }
}

/// Whether a status means that the context is lost: every later call would return it.
fn is_sticky(code: u32) -> bool {
    // ECC, NVLINK, illegal address, timeout, destroyed context, assert, then faults of kernels up to a failed launch.
    matches!(code, 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
}

impl CudaDevice {
    /// The name as PyTorch prints it.
    pub(crate) fn name(&self) -> String {
        format!("cuda:{}", self.ordinal)
    }

    /// The ordinal.
    pub(crate) fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The compute capability: `(9, 0)` is `sm_90`.
    pub(crate) fn capability(&self) -> (u32, u32) {
        self.capability
    }

    /// Whether each launch is synchronised (`CASTIRON_CUDA_SYNC=1`), so that a fault is reported by its cause.
    pub(super) fn waits(&self) -> bool {
        self.waits && !recording::is_on()
    }

    /// The stream of what this thread begins: the device's, or one that records a graph.
    pub(super) fn stream(&self) -> cu::CUstream {
        recording::stream().map_or(self.stream, |(_, stream)| stream)
    }

    /// An error of an operation on this device.
    #[cold]
    pub(crate) fn error(&self, op: &'static str, reason: String) -> Error {
        Error::CudaFailure { op, device: self.name(), reason }
    }

    /// Makes the context current on this thread; must come first.
    ///
    /// # Errors
    /// If the device was lost.
    pub(super) fn enter(&self, op: &'static str) -> Result<()> {
        if let Some(reason) = self.poison.get() {
            return Err(self.error(op, format!("the device was lost: {reason}; start the process again")));
        }
        if let Some((recorded, _)) = recording::stream()
            && recorded != self.ordinal
        {
            return invalid(
                op,
                format!("a graph of `cuda:{recorded}` is recorded, which has no work of `{}`", self.name()),
            );
        }
        let mut current = ptr::null_mut();
        // SAFETY: it writes the current context.
        let code = unsafe { (self.driver.cuCtxGetCurrent)(&mut current) };
        if code == 0 && current == self.context {
            return Ok(());
        }
        // SAFETY: the context is never released.
        self.check(op, unsafe { (self.driver.cuCtxSetCurrent)(self.context) })
    }

    /// Converts a status to a result.
    #[inline]
    pub(crate) fn check(&self, op: &'static str, code: u32) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.failed(op, code)) }
    }

    #[cold]
    fn failed(&self, op: &'static str, code: u32) -> Error {
        let reason = self.driver.describe(code);
        if is_sticky(code) {
            let _ = self.poison.set(format!("{op} answered {reason}"));
            let reason = format!(
                "{reason}. It may be an earlier kernel's fault (`CASTIRON_CUDA_SYNC=1` tells whose); the device is lost to this process"
            );
            return self.error(op, reason);
        }
        self.error(op, reason)
    }

    /// Waits for all work on the stream.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.enter("synchronize")?;
        self.wait("synchronize")
    }

    /// [`synchronize`](Self::synchronize) for callers that have entered the context.
    pub(super) fn wait(&self, op: &'static str) -> Result<()> {
        recording::expect_off(op, "the host waits for the GPU here")?;
        // SAFETY: the stream is never destroyed.
        self.check(op, unsafe { (self.driver.cuStreamSynchronize)(self.stream) })
    }

    /// Bytes held by buffers, and bytes reserved by the pool.
    pub(crate) fn usage(&self) -> Result<(usize, usize)> {
        self.enter("memory")?;
        let mut held = 0_u64;
        let which = cu::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
        // SAFETY: it writes a 64-bit number.
        let code = unsafe { (self.driver.cuMemPoolGetAttribute)(self.pool, which, (&raw mut held).cast()) };
        self.check("memory", code)?;
        Ok((self.used.load(Ordering::Relaxed), held as usize))
    }

    /// Returns unused memory of the pool to the system.
    pub(crate) fn empty_cache(&self) -> Result<()> {
        self.enter("empty_cache")?;
        self.trim("empty_cache")
    }

    /// [`empty_cache`](Self::empty_cache) for callers that have entered the context: waits for the stream, so that freed memory counts.
    pub(super) fn trim(&self, op: &'static str) -> Result<()> {
        self.wait(op)?;
        // SAFETY: the pool belongs to the device.
        self.check(op, unsafe { (self.driver.cuMemPoolTrimTo)(self.pool, 0) })
    }

    /// Sets how many bytes the pool keeps at synchronisation.
    pub(crate) fn keep(&self, bytes: usize) -> Result<()> {
        const OP: &str = "set_cuda_cache_limit";
        self.enter(OP)?;
        // SAFETY: the pool belongs to the device.
        self.check(OP, unsafe { keep(self.driver, self.pool, bytes as u64) })
    }

    /// Sets the limit of bytes that buffers may hold.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Reserves bytes for a buffer; `false` if they exceed the limit.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let more = |used: usize| used.checked_add(bytes).filter(|&all| all <= limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Free and total bytes on the device, up to the limit of buffers; zeros if the driver returns an error.
    pub(super) fn room(&self) -> (usize, usize) {
        let (mut free, mut total) = (0, 0);
        let limit = self.limit.load(Ordering::Relaxed);
        let left = limit.saturating_sub(self.used.load(Ordering::Relaxed));
        // SAFETY: it writes the two numbers.
        match unsafe { (self.driver.cuMemGetInfo_v2)(&mut free, &mut total) } {
            0 => (free.min(left), total.min(limit)),
            _ => (0, 0),
        }
    }
}
