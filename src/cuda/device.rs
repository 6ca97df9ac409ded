//! `CudaDevice`: a GPU with its context, its one stream and its memory pool.
//!
//! Uses `driver`; used by all of this folder.

use super::blas::Blas;
use super::compile::Kernels;
use super::driver::{self, Driver};
use super::staging::Staging;
use crate::error::{Error, Result};
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use cudarc::driver::sys as cu;
use std::sync::OnceLock;

/// As many ordinals as a device value may have.
const ORDINALS: usize = i8::MAX as usize + 1;

/// A GPU. There is one value for each, which stays until the process ends.
pub(crate) struct CudaDevice {
    pub(super) ordinal: usize,
    pub(super) driver: &'static Driver,
    pub(super) context: cu::CUcontext,
    pub(super) stream: cu::CUstream,
    pub(super) pool: cu::CUmemoryPool,
    capability: (u32, u32),
    /// What ended the use of the device.
    poison: OnceLock<String>,
    /// Bytes that buffers hold, and how many they may.
    pub(super) used: AtomicUsize,
    limit: AtomicUsize,
    pub(super) kernels: Kernels,
    pub(super) blas: Blas,
    pub(super) staging: Staging,
    waits: bool,
}

// SAFETY: handles of the driver may be used by every thread that has the context current, which `enter` sees to.
unsafe impl Send for CudaDevice {}
// SAFETY: as above; the driver's functions may be called by several threads at once.
unsafe impl Sync for CudaDevice {}

impl core::fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.name())
    }
}

/// The device with an ordinal, made when first asked for.
///
/// # Errors
/// If it is not there: the error says what is missing.
pub(crate) fn device(ordinal: usize) -> Result<&'static CudaDevice> {
    static DEVICES: [OnceLock<Result<CudaDevice>>; ORDINALS] = [const { OnceLock::new() }; ORDINALS];
    match DEVICES.get(ordinal) {
        Some(place) => place.get_or_init(|| open(ordinal)).as_ref().map_err(Error::clone),
        None => unavailable(ordinal, "ordinals are less than 128"),
    }
}

/// How many devices there are; none where CUDA is not.
pub(crate) fn count() -> usize {
    driver::driver().map_or(0, |(_, count)| count)
}

fn unavailable<T>(ordinal: usize, reason: &'static str) -> Result<T> {
    Err(Error::DeviceUnavailable { device: format!("cuda:{ordinal}"), reason })
}

/// As [`unavailable`], with text that is made once for each ordinal.
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
    // SAFETY: each call writes to its first argument; `id` is a device once the first has succeeded.
    unsafe {
        check("the driver does not give the device", (driver.cuDeviceGet)(&mut id, ordinal as c_int))?;
        let attribute = |which| {
            let mut value = 0;
            check("the device has no such attribute", (driver.cuDeviceGetAttribute)(&mut value, which, id))
                .map(|()| value as u32)
        };
        use cu::CUdevice_attribute_enum as Attribute;
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
        // The primary context is that of the CUDA runtime, and so of all other libraries in the process.
        check("the device gives no context", (driver.cuDevicePrimaryCtxRetain)(&mut context, id))?;
        check("the context can't be used", (driver.cuCtxSetCurrent)(context))?;
        // A stream that does not wait for the default stream of others.
        let kind = cu::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        check("the device gives no stream", (driver.cuStreamCreate)(&mut stream, kind))?;
        check("the device gives no memory pool", (driver.cuDeviceGetDefaultMemPool)(&mut pool, id))?;
        // Otherwise all that is free goes back to the system at each synchronisation.
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

/// Says how many bytes a pool holds for later while the device is waited for, and answers the driver's code.
///
/// # Safety
/// The pool is one of the driver's.
unsafe fn keep(driver: &Driver, pool: cu::CUmemoryPool, mut bytes: u64) -> u32 {
    let threshold = cu::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the attribute is a number of 64 bits.
    unsafe { (driver.cuMemPoolSetAttribute)(pool, threshold, (&raw mut bytes).cast::<c_void>()) }
}

/// Whether a code says that the context is lost: every later call would answer with it.
fn is_sticky(code: u32) -> bool {
    // ECC, NVLINK, illegal address, timeout, destroyed context, assert, then faults of kernels up to a failed launch.
    matches!(code, 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
}

impl CudaDevice {
    /// As PyTorch prints it.
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

    /// Whether each launch is waited for (`CASTIRON_CUDA_SYNC=1`), so that a fault is reported by what made it.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// An error of an operation on this device.
    #[cold]
    pub(crate) fn error(&self, op: &'static str, reason: String) -> Error {
        Error::CudaFailure { op, device: self.name(), reason }
    }

    /// Makes the context that of this thread. The first thing that everybody does.
    ///
    /// # Errors
    /// If the device was lost.
    pub(super) fn enter(&self, op: &'static str) -> Result<()> {
        if let Some(reason) = self.poison.get() {
            return Err(self.error(op, format!("the device was lost: {reason}; start the process again")));
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

    /// What a code means.
    #[inline]
    pub(super) fn check(&self, op: &'static str, code: u32) -> Result<()> {
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

    /// Waits until all that was begun is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.enter("synchronize")?;
        self.wait("synchronize")
    }

    /// [`synchronize`](Self::synchronize) for who has entered.
    pub(super) fn wait(&self, op: &'static str) -> Result<()> {
        // SAFETY: the stream is never destroyed.
        self.check(op, unsafe { (self.driver.cuStreamSynchronize)(self.stream) })
    }

    /// Bytes that buffers hold, and bytes that the pool holds for them.
    pub(crate) fn usage(&self) -> Result<(usize, usize)> {
        self.enter("memory")?;
        let mut held = 0_u64;
        let which = cu::CUmemPool_attribute_enum::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
        // SAFETY: it writes a number of 64 bits.
        let code = unsafe { (self.driver.cuMemPoolGetAttribute)(self.pool, which, (&raw mut held).cast()) };
        self.check("memory", code)?;
        Ok((self.used.load(Ordering::Relaxed), held as usize))
    }

    /// Gives memory that no buffer holds back to the system.
    pub(crate) fn empty_cache(&self) -> Result<()> {
        self.enter("empty_cache")?;
        self.trim("empty_cache")
    }

    /// [`empty_cache`](Self::empty_cache) for who has entered: what is freed is free when the stream has come to it.
    pub(super) fn trim(&self, op: &'static str) -> Result<()> {
        self.wait(op)?;
        // SAFETY: the pool is the device's own.
        self.check(op, unsafe { (self.driver.cuMemPoolTrimTo)(self.pool, 0) })
    }

    /// Says how many bytes the pool holds for later while the device is waited for.
    pub(crate) fn keep(&self, bytes: usize) -> Result<()> {
        const OP: &str = "set_cuda_cache_limit";
        self.enter(OP)?;
        // SAFETY: the pool is the device's own.
        self.check(OP, unsafe { keep(self.driver, self.pool, bytes as u64) })
    }

    /// Says how many bytes buffers may hold.
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Counts bytes of a buffer to be; `false` if they are more than buffers may hold.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let more = |used: usize| used.checked_add(bytes).filter(|&all| all <= limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Bytes free on the device, and all that it has, up to what buffers may hold; zeros where the driver does not say.
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
