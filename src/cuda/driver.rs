//! The only access to the driver, NVRTC and cublasLt: every function that is called, or what is missing and what to install.
//!
//! They are loaded all of a library at once. They return plain numbers, because a newer driver may return codes that nobody knows today.
//! Signatures are those of NVIDIA's headers; unit tests with the feature `cudarc` compare each with the bindings of this crate, which are
//! generated from them.

#![allow(non_snake_case)]

use super::bindings::{CUdevice, CUdeviceptr, cu, cublasLtMatmulAlgo_t, cublasLtMatmulHeuristicResult_t, lt, rtc};
use super::library;
use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use libloading::Library;
use std::sync::OnceLock;

/// Writes the table of a library's functions.
///
/// `functions! { Driver, driver::CUresult, "…": cuInit(c_uint); }` writes `struct Driver { pub cuInit: unsafe extern "C" fn(c_uint) -> u32 }`.
/// Those with `[unlisted]` are not in the bindings of each version of CUDA, though in all its drivers: they are not compared.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident, $library:ident::$code:ident, $lacks:literal: $($name:ident($($argument:ty),*);)*
        $([unlisted] $(#[$attribute:meta])* $also:ident($($more:ty),*);)*) => {
        $(#[$doc])*
        pub(super) struct $table {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> u32,)*
            $($(#[$attribute])* pub(super) $also: unsafe extern "C" fn($($more),*) -> u32,)*
        }
        #[cfg(all(test, feature = "cudarc"))]
        const _: () = {
            $(let _: unsafe fn($(<$argument as Theirs>::Type),*) -> cudarc::$library::sys::$code = cudarc::$library::sys::$name;)*
            assert!(size_of::<cudarc::$library::sys::$code>() == size_of::<u32>());
        };
        impl $table {
            fn load(library: &'static Library) -> Result<Self, &'static str> {
                Ok($table {
                    $($name: {
                        // SAFETY: the library's header has this signature; a status is 32 bits wide.
                        let found = unsafe { library.get(concat!(stringify!($name), "\0")) };
                        *found.map_err(|_| concat!("`", stringify!($name), "` is missing: ", $lacks))?
                    },)*
                    $($(#[$attribute])* $also: {
                        // SAFETY: the library's header has this signature; a code is 32 bits wide.
                        let found = unsafe { library.get(concat!(stringify!($also), "\0")) };
                        *found.map_err(|_| concat!("`", stringify!($also), "` is missing: ", $lacks))?
                    },)*
                })
            }
        }
    };
}

functions! {
    /// The driver's functions.
    Driver, driver::CUresult, "the NVIDIA driver is too old, or what was found is no driver; install driver 525 or newer (CUDA 12)":
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(cu::CUresult, *mut *const c_char);
    cuGetErrorString(cu::CUresult, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetAttribute(*mut c_int, cu::CUdevice_attribute, CUdevice);
    cuDeviceGetDefaultMemPool(*mut cu::CUmemoryPool, CUdevice);
    cuDevicePrimaryCtxRetain(*mut cu::CUcontext, CUdevice);
    cuCtxGetCurrent(*mut cu::CUcontext);
    cuCtxSetCurrent(cu::CUcontext);
    cuStreamCreate(*mut cu::CUstream, c_uint);
    cuStreamDestroy_v2(cu::CUstream);
    cuStreamSynchronize(cu::CUstream);
    cuStreamBeginCapture_v2(cu::CUstream, cu::CUstreamCaptureMode);
    cuStreamEndCapture(cu::CUstream, *mut cu::CUgraph);
    cuGraphInstantiateWithFlags(*mut cu::CUgraphExec, cu::CUgraph, c_ulonglong);
    cuGraphLaunch(cu::CUgraphExec, cu::CUstream);
    cuGraphExecDestroy(cu::CUgraphExec);
    cuGraphDestroy(cu::CUgraph);
    cuMemPoolSetAttribute(cu::CUmemoryPool, cu::CUmemPool_attribute, *mut c_void);
    cuMemPoolGetAttribute(cu::CUmemoryPool, cu::CUmemPool_attribute, *mut c_void);
    cuMemPoolTrimTo(cu::CUmemoryPool, usize);
    cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, cu::CUmemoryPool, cu::CUstream);
    cuMemFreeAsync(CUdeviceptr, cu::CUstream);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuEventCreate(*mut cu::CUevent, c_uint);
    cuEventRecord(cu::CUevent, cu::CUstream);
    cuEventSynchronize(cu::CUevent);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, cu::CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, cu::CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, cu::CUstream);
    cuMemcpyPeerAsync(CUdeviceptr, cu::CUcontext, CUdeviceptr, cu::CUcontext, usize, cu::CUstream);
    cuMemsetD8Async(CUdeviceptr, u8, usize, cu::CUstream);
    cuMemsetD16Async(CUdeviceptr, u16, usize, cu::CUstream);
    cuMemsetD32Async(CUdeviceptr, c_uint, usize, cu::CUstream);
    cuModuleLoadData(*mut cu::CUmodule, *const c_void);
    cuModuleGetFunction(*mut cu::CUfunction, cu::CUmodule, *const c_char);
    cuLaunchKernel(cu::CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, cu::CUstream, *mut *mut c_void, *mut *mut c_void);
    [unlisted] #[cfg(feature = "profile")] cuEventElapsedTime(*mut f32, cu::CUevent, cu::CUevent);
}

functions! {
    /// NVRTC's functions.
    Nvrtc, nvrtc::nvrtcResult, "NVRTC is too old, or what was found is no NVRTC; install that of CUDA 12 or 13 (`pip install nvidia-cuda-nvrtc`)":
    nvrtcVersion(*mut c_int, *mut c_int);
    nvrtcCreateProgram(*mut rtc::nvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    nvrtcCompileProgram(rtc::nvrtcProgram, c_int, *const *const c_char);
    nvrtcGetCUBINSize(rtc::nvrtcProgram, *mut usize);
    nvrtcGetCUBIN(rtc::nvrtcProgram, *mut c_char);
    nvrtcGetProgramLogSize(rtc::nvrtcProgram, *mut usize);
    nvrtcGetProgramLog(rtc::nvrtcProgram, *mut c_char);
    nvrtcDestroyProgram(*mut rtc::nvrtcProgram);
}

functions! {
    /// The functions of cublasLt.
    CublasLt, cublaslt::cublasStatus_t, "cublasLt is too old, or what was found is no cublasLt; install that of CUDA 12 or 13, or set `CASTIRON_CUBLASLT=0`":
    cublasLtGetProperty(lt::libraryPropertyType, *mut c_int);
    cublasLtCreate(*mut lt::cublasLtHandle_t);
    cublasLtMatmulDescCreate(*mut lt::cublasLtMatmulDesc_t, lt::cublasComputeType_t, lt::cudaDataType);
    cublasLtMatmulDescDestroy(lt::cublasLtMatmulDesc_t);
    cublasLtMatmulDescSetAttribute(lt::cublasLtMatmulDesc_t, lt::cublasLtMatmulDescAttributes_t, *const c_void, usize);
    cublasLtMatrixLayoutCreate(*mut lt::cublasLtMatrixLayout_t, lt::cudaDataType, u64, u64, i64);
    cublasLtMatrixLayoutDestroy(lt::cublasLtMatrixLayout_t);
    cublasLtMatrixLayoutSetAttribute(lt::cublasLtMatrixLayout_t, lt::cublasLtMatrixLayoutAttribute_t, *const c_void, usize);
    cublasLtMatmulPreferenceCreate(*mut lt::cublasLtMatmulPreference_t);
    cublasLtMatmulPreferenceDestroy(lt::cublasLtMatmulPreference_t);
    cublasLtMatmulPreferenceSetAttribute(lt::cublasLtMatmulPreference_t, lt::cublasLtMatmulPreferenceAttributes_t, *const c_void, usize);
    cublasLtMatmulAlgoGetHeuristic(lt::cublasLtHandle_t, lt::cublasLtMatmulDesc_t, lt::cublasLtMatrixLayout_t, lt::cublasLtMatrixLayout_t, lt::cublasLtMatrixLayout_t, lt::cublasLtMatrixLayout_t, lt::cublasLtMatmulPreference_t, c_int, *mut cublasLtMatmulHeuristicResult_t, *mut c_int);
    cublasLtMatmul(lt::cublasLtHandle_t, lt::cublasLtMatmulDesc_t, *const c_void, *const c_void, lt::cublasLtMatrixLayout_t, *const c_void, lt::cublasLtMatrixLayout_t, *const c_void, *const c_void, lt::cublasLtMatrixLayout_t, *mut c_void, lt::cublasLtMatrixLayout_t, *const cublasLtMatmulAlgo_t, *mut c_void, usize, lt::cudaStream_t);
}

/// The initialised driver, and the number of devices; or why there is none, and what to do.
pub(super) fn driver() -> Result<(&'static Driver, usize), &'static str> {
    static DRIVER: OnceLock<Result<(Driver, usize), &'static str>> = OnceLock::new();
    match DRIVER.get_or_init(start) {
        Ok((driver, count)) => Ok((driver, *count)),
        Err(reason) => Err(reason),
    }
}

/// Leaks a text that is made once per process, for errors with `&'static str`.
fn once(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn start() -> Result<(Driver, usize), &'static str> {
    let names: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };
    let library = library::open(names, None, &[]).ok_or(
        "no NVIDIA driver was found (the library `libcuda.so.1`, `nvcuda.dll` on Windows): install one, or name its folder in \
         `$CASTIRON_CUDA_LIB`; or keep the tensor on `Cpu`",
    )?;
    let driver = Driver::load(library)?;
    // SAFETY: the driver's first call; there are no flags.
    let code = unsafe { (driver.cuInit)(0) };
    match code {
        0 => {}
        // CUDA_ERROR_NO_DEVICE
        100 => return Err("the NVIDIA driver sees no GPU: see `nvidia-smi` and `$CUDA_VISIBLE_DEVICES`"),
        _ => {
            return Err(once(format!(
                "the NVIDIA driver could not start: {}; see `nvidia-smi`",
                driver.describe(code)
            )));
        }
    }
    let mut count = 0;
    // SAFETY: it writes the number.
    let code = unsafe { (driver.cuDeviceGetCount)(&mut count) };
    match (code, usize::try_from(count)) {
        (0, Ok(0)) => Err("the NVIDIA driver sees no GPU: see `nvidia-smi` and `$CUDA_VISIBLE_DEVICES`"),
        (0, Ok(count)) => Ok((driver, count)),
        _ => Err(once(format!("the NVIDIA driver does not say how many GPUs there are: {}", driver.describe(code)))),
    }
}

/// NVRTC and its version, or why there is none.
pub(super) fn nvrtc() -> Result<(&'static Nvrtc, (i32, i32)), &'static str> {
    static NVRTC: OnceLock<Result<(Nvrtc, (i32, i32)), &'static str>> = OnceLock::new();
    let found = NVRTC.get_or_init(|| {
        let names: &[&str] = match cfg!(windows) {
            true => &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"],
            false => &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
        };
        let library = library::open(names, Some("libnvrtc-builtins.so"), &library::toolkit_folders()).ok_or(
            "NVRTC, the compiler of kernels, was not found (the library `libnvrtc.so.13` or `.12`): install a CUDA toolkit or \
             `pip install nvidia-cuda-nvrtc`, and name the library's folder in `$CASTIRON_CUDA_LIB`, or the toolkit in `$CUDA_HOME`",
        )?;
        let nvrtc = Nvrtc::load(library)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: it writes the two numbers.
        match unsafe { (nvrtc.nvrtcVersion)(&mut major, &mut minor) } {
            0 => Ok((nvrtc, (major, minor))),
            code => Err(once(format!("NVRTC does not say its version: error {code}"))),
        }
    });
    match found {
        Ok((nvrtc, version)) => Ok((nvrtc, *version)),
        Err(reason) => Err(reason),
    }
}

/// cublasLt, or why it is not used: `CASTIRON_CUBLASLT=0`, not found, or a function is missing.
pub(super) fn cublas_lt() -> Result<&'static CublasLt, &'static str> {
    static FOUND: OnceLock<Result<CublasLt, &'static str>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        if std::env::var_os("CASTIRON_CUBLASLT").is_some_and(|value| value == "0") {
            return Err("`CASTIRON_CUBLASLT=0` says not to use cublasLt");
        }
        let names: &[&str] = match cfg!(windows) {
            true => &["cublasLt64_13.dll", "cublasLt64_12.dll"],
            false => &["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"],
        };
        let library = library::open(names, None, &library::toolkit_folders()).ok_or(
            "cublasLt was not found (the library `libcublasLt.so.13` or `.12`): install a CUDA toolkit or `pip install \
             nvidia-cublas`, and name the library's folder in `$CASTIRON_CUDA_LIB`, or the toolkit in `$CUDA_HOME`",
        )?;
        CublasLt::load(library)
    });
    found.as_ref().map_err(|reason| *reason)
}

impl Driver {
    /// The CUDA version of the driver, as `(13, 0)`.
    pub(super) fn version(&self) -> (i32, i32) {
        let mut version = 0;
        // SAFETY: it writes 1000 times the major version plus 10 times the minor one.
        unsafe { (self.cuDriverGetVersion)(&mut version) };
        (version / 1000, version % 1000 / 10)
    }

    /// A status with the driver's description: `CUDA_ERROR_OUT_OF_MEMORY (2): out of memory`.
    pub(super) fn describe(&self, code: u32) -> String {
        let text = |describe: unsafe extern "C" fn(cu::CUresult, *mut *const c_char) -> u32| {
            let mut text = core::ptr::null();
            // SAFETY: it writes the address of a static text, or null.
            let code = unsafe { describe(cu::CUresult(code), &mut text) };
            // SAFETY: as above.
            (code == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        let name = text(self.cuGetErrorName).unwrap_or("an error that it has no name for".into());
        match text(self.cuGetErrorString) {
            Some(what) => format!("{name} ({code}): {what}"),
            None => format!("{name} ({code})"),
        }
    }
}

/// The type of `cudarc` that is one of castiron's.
#[cfg(all(test, feature = "cudarc"))]
pub(super) trait Theirs {
    type Type;
}
#[cfg(all(test, feature = "cudarc"))]
const _: () = {
    macro_rules! plain {
        ($($plain:ty),*) => { $(impl Theirs for $plain { type Type = $plain; })* };
    }
    plain!(u8, u16, u32, u64, usize, i8, i32, i64, c_void);
    impl<T: Theirs> Theirs for *mut T {
        type Type = *mut T::Type;
    }
    impl<T: Theirs> Theirs for *const T {
        type Type = *const T::Type;
    }
};
