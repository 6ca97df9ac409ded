//! Kernels: text compiled to a CUBIN by NVRTC, loaded once per device, cached in memory and on disk.
//!
//! The text includes no headers, so only NVRTC is needed. `--fmad=false`, because the host does not contract `a * b + c` either.

use super::bindings::{cu, rtc};
use super::device::CudaDevice;
use super::disk;
use super::driver::{self, Nvrtc};
use crate::error::Result;
use core::any::TypeId;
use core::ffi::{c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The key of a kernel in this process. Equal keys have equal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KernelKey {
    /// A type, and a number for everything else that the text depends on: the class of layouts, dtypes known at run time.
    Type(TypeId, u64),
    /// A name, and a number as above.
    Name(&'static str, u64),
}

impl KernelKey {
    /// The key of a type whose text is generated.
    pub(crate) fn of<T: 'static>(class: u64) -> Self {
        KernelKey::Type(TypeId::of::<T>(), class)
    }
}

/// Self-contained CUDA C++, and the name of its `extern "C"` kernel.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A kernel on a device. It stays loaded.
pub(crate) struct Kernel {
    pub(super) device: &'static CudaDevice,
    pub(super) function: cu::CUfunction,
}

// SAFETY: a function of a module that is never unloaded may be used by any thread, like the device's context.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// The kernels of a device. Each entry is locked while it is compiled, so that it is compiled once.
#[derive(Default)]
pub(super) struct Kernels(RwLock<HashMap<KernelKey, Place>>);
type Place = Arc<Mutex<Option<&'static Kernel>>>;

static COMPILED: AtomicUsize = AtomicUsize::new(0);

/// Number of compilations in this process.
pub(crate) fn compiled() -> usize {
    COMPILED.load(Ordering::Relaxed)
}

impl CudaDevice {
    /// The kernel of a key; `source` writes its text if this process has not loaded it yet.
    ///
    /// # Errors
    /// If NVRTC is not available, or rejects the text, which is a bug of castiron; errors are not cached.
    pub(crate) fn kernel(
        &'static self,
        key: KernelKey,
        source: &dyn Fn() -> Result<Source>,
    ) -> Result<&'static Kernel> {
        let kernels = &self.kernels.0;
        let known = kernels.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let place = known
            .unwrap_or_else(|| kernels.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone());
        let locked = || place.lock().unwrap_or_else(PoisonError::into_inner);
        let known = *locked();
        if let Some(kernel) = known {
            return Ok(kernel);
        }
        // (No lock is held here: a program's formulas are recorded.)
        let source = source()?;
        let mut place = locked();
        if let Some(kernel) = *place {
            return Ok(kernel);
        }
        let function = self.build(&source)?;
        let kernel: &'static Kernel = Box::leak(Box::new(Kernel { device: self, function }));
        *place = Some(kernel);
        Ok(kernel)
    }

    fn build(&self, source: &Source) -> Result<cu::CUfunction> {
        const OP: &str = "compile";
        let (nvrtc, version) = driver::nvrtc().map_err(|reason| self.error(OP, reason.to_owned()))?;
        let options = options(self.capability());
        let about = format!("{} {version:?} {options:?}", env!("CARGO_PKG_VERSION"));
        let key = disk::hash(&[source.name.as_bytes(), source.text.as_bytes(), about.as_bytes()]);
        self.enter(OP)?;
        if let Some(image) = disk::read(key) {
            match self.load(source, &image) {
                Ok(function) => return Ok(function),
                // An unusable entry is compiled again.
                Err(_) => disk::forget(key),
            }
        }
        let image = compile(nvrtc, source, &options).map_err(|reason| self.error(OP, reason))?;
        let function = self.load(source, &image).map_err(|error| {
            let (driver, error) = (self.driver.version(), error.to_string());
            let versions = format!("the driver is one of CUDA {driver:?}, NVRTC is {version:?}, and must not be newer");
            self.error(OP, format!("{error}; {versions}"))
        })?;
        disk::write(key, &image);
        Ok(function)
    }

    /// Loads a CUBIN for the lifetime of the process.
    fn load(&self, source: &Source, image: &[u8]) -> Result<cu::CUfunction> {
        const OP: &str = "load kernel";
        let name =
            CString::new(source.name.as_str()).map_err(|_| self.error(OP, "its name holds a zero".to_owned()))?;
        let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: a CUBIN contains its length, and this one was made by NVRTC, in this process or in another one of the same user: `disk`
        // returns only entries authenticated with a key that only the user can read.
        self.check(OP, unsafe { (self.driver.cuModuleLoadData)(&mut module, image.as_ptr().cast()) })?;
        // SAFETY: the module was just loaded; the name is zero-terminated.
        self.check(OP, unsafe { (self.driver.cuModuleGetFunction)(&mut function, module, name.as_ptr()) })?;
        Ok(function)
    }
}

/// NVRTC's options.
fn options((major, minor): (u32, u32)) -> [String; 3] {
    [format!("--gpu-architecture=sm_{major}{minor}"), "--fmad=false".to_owned(), "--std=c++17".to_owned()]
}

/// The CUBIN of a text for a compute capability, which need not be that of a present device; or the reason of failure.
pub(crate) fn cubin(source: &Source, capability: (u32, u32)) -> Result<Vec<u8>, String> {
    let (nvrtc, _) = driver::nvrtc().map_err(str::to_owned)?;
    compile(nvrtc, source, &options(capability))
}

/// The CUBIN of a text; or the log, and the text with line numbers.
fn compile(nvrtc: &Nvrtc, source: &Source, options: &[String]) -> Result<Vec<u8>, String> {
    let refused = |what: &str, code: u32| Err(format!("NVRTC answered error {code} to {what} of `{}`", source.name));
    let text = CString::new(source.text.as_str()).map_err(|_| format!("the text of `{}` holds a zero", source.name))?;
    let options: Vec<CString> = options.iter().flat_map(|option| CString::new(option.as_str())).collect();
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = Program { nvrtc, handle: ptr::null_mut() };
    COMPILED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: strings are zero-terminated and live long enough; each call gets a program made by the first call, and room for its output.
    unsafe {
        let code = (nvrtc.nvrtcCreateProgram)(
            &mut program.handle,
            text.as_ptr(),
            c"kernel.cu".as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        );
        if code != 0 {
            return refused("the creation", code);
        }
        let code = (nvrtc.nvrtcCompileProgram)(program.handle, options.len() as c_int, options.as_ptr());
        if code != 0 {
            let log = program.bytes(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let log = log.trim_end_matches(['\0', '\n']);
            return Err(format!(
                "NVRTC does not take the kernel `{}` (error {code}):\n{log}\n{}",
                source.name,
                numbered(&source.text, log)
            ));
        }
        program.bytes(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN).or_else(|code| refused("the CUBIN", code))
    }
}

/// A text with line numbers; for a long text, only lines around those that the log names.
fn numbered(text: &str, log: &str) -> String {
    const FEW: usize = 60;
    let number = |place: &str| place.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    // `kernel.cu(12)` in NVRTC's logs, `kernel.cu:12` in others.
    let named: Vec<usize> =
        ["kernel.cu(", "kernel.cu:"].iter().flat_map(|before| log.split(before).skip(1).filter_map(number)).collect();
    let all = text.lines().count() <= FEW;
    let shown = |line: usize| all || named.iter().any(|&at| line.abs_diff(at) <= 3);
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|&(at, _)| shown(at));
    lines.map(|(at, line)| format!("{at:5} {line}\n")).collect()
}

/// An NVRTC program, destroyed on drop.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: rtc::nvrtcProgram,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: it was created and is not destroyed yet.
            unsafe { (self.nvrtc.nvrtcDestroyProgram)(&mut self.handle) };
        }
    }
}

impl Program<'_> {
    /// The output of a function, whose length another function returns.
    ///
    /// # Safety
    /// The program was created; the two functions belong together.
    unsafe fn bytes(
        &self,
        size: unsafe extern "C" fn(rtc::nvrtcProgram, *mut usize) -> u32,
        get: unsafe extern "C" fn(rtc::nvrtcProgram, *mut c_char) -> u32,
    ) -> Result<Vec<u8>, u32> {
        let mut len = 0;
        // SAFETY: the caller's promise; the buffer has the returned length.
        unsafe {
            match size(self.handle, &mut len) {
                0 => {}
                code => return Err(code),
            }
            let mut bytes = vec![0_u8; len];
            match get(self.handle, bytes.as_mut_ptr().cast()) {
                0 => Ok(bytes),
                code => Err(code),
            }
        }
    }
}
