//! Kernels: text compiled to a CUBIN by NVRTC, loaded once for each device, kept in memory and on disk.
//!
//! Text includes no header, so nothing but NVRTC is needed. `--fmad=false`: the host never contracts `a * b + c` either. Uses
//! `driver` and `disk`; used by whoever launches.

use super::device::CudaDevice;
use super::disk;
use super::driver::{self, Nvrtc};
use crate::error::Result;
use core::any::TypeId;
use core::ffi::{c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use cudarc::driver::sys as cu;
use cudarc::nvrtc::sys as rtc;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What a kernel is known by in this process. Equal keys have equal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KernelKey {
    /// A type, and a number for what else the text depends on: the class of layouts, dtypes known at run time.
    Type(TypeId, u64),
    /// A name, and a number as above.
    Name(&'static str, u64),
}

impl KernelKey {
    /// The key of a type that the text is written from.
    pub(crate) fn of<T: 'static>(class: u64) -> Self {
        KernelKey::Type(TypeId::of::<T>(), class)
    }
}

/// CUDA C++ that stands alone, and the name of its kernel, which is `extern "C"`.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A kernel on a device. It stays loaded.
pub(crate) struct Kernel {
    pub(super) device: &'static CudaDevice,
    pub(super) function: cu::CUfunction,
}

// SAFETY: a function of a module that is never unloaded is used by any thread, as the device's context is.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// The kernels of a device. The place of one is locked while it is compiled, so that it is compiled once.
#[derive(Default)]
pub(super) struct Kernels(RwLock<HashMap<KernelKey, Place>>);
type Place = Arc<Mutex<Option<&'static Kernel>>>;

static COMPILED: AtomicUsize = AtomicUsize::new(0);

/// How often this process has had text compiled.
pub(crate) fn compiled() -> usize {
    COMPILED.load(Ordering::Relaxed)
}

impl CudaDevice {
    /// The kernel of a key; `source` writes its text where this process has not loaded it yet.
    ///
    /// # Errors
    /// If there is no NVRTC, or it does not take the text, which is a bug of castiron; an error is not kept.
    pub(crate) fn kernel(
        &'static self,
        key: KernelKey,
        source: &dyn Fn() -> Result<Source>,
    ) -> Result<&'static Kernel> {
        let kernels = &self.kernels.0;
        let known = kernels.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let place = known
            .unwrap_or_else(|| kernels.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone());
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = *place {
            return Ok(kernel);
        }
        let function = self.build(&source()?)?;
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
                // Whatever is wrong with it, it is compiled anew.
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

    /// Loads a CUBIN for as long as the process lives.
    fn load(&self, source: &Source, image: &[u8]) -> Result<cu::CUfunction> {
        const OP: &str = "load kernel";
        let name =
            CString::new(source.name.as_str()).map_err(|_| self.error(OP, "its name holds a zero".to_owned()))?;
        let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: a CUBIN says itself how long it is, and this one is as NVRTC has given it, to this process or to another one of the user's:
        // `disk` gives back what was written with a key that is the user's alone.
        self.check(OP, unsafe { (self.driver.cuModuleLoadData)(&mut module, image.as_ptr().cast()) })?;
        // SAFETY: the module has just been loaded; the name ends with a zero.
        self.check(OP, unsafe { (self.driver.cuModuleGetFunction)(&mut function, module, name.as_ptr()) })?;
        Ok(function)
    }
}

/// What NVRTC is told beside the text.
fn options((major, minor): (u32, u32)) -> [String; 3] {
    [format!("--gpu-architecture=sm_{major}{minor}"), "--fmad=false".to_owned(), "--std=c++17".to_owned()]
}

/// The CUBIN of a text for devices of a capability, which need not be there; the reason where there is none.
pub(crate) fn cubin(source: &Source, capability: (u32, u32)) -> Result<Vec<u8>, String> {
    let (nvrtc, _) = driver::nvrtc().map_err(str::to_owned)?;
    compile(nvrtc, source, &options(capability))
}

/// The CUBIN of a text; or the log and the text, with the numbers of its lines.
fn compile(nvrtc: &Nvrtc, source: &Source, options: &[String]) -> Result<Vec<u8>, String> {
    let refused = |what: &str, code: u32| Err(format!("NVRTC answered error {code} to {what} of `{}`", source.name));
    let text = CString::new(source.text.as_str()).map_err(|_| format!("the text of `{}` holds a zero", source.name))?;
    let options: Vec<CString> = options.iter().flat_map(|option| CString::new(option.as_str())).collect();
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = Program { nvrtc, handle: ptr::null_mut() };
    COMPILED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: strings end with a zero and live until the end; each call gets a program that the first has made, and room for what it
    // writes.
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

/// A text with the numbers of its lines; of a long one, those around what the log names.
fn numbered(text: &str, log: &str) -> String {
    const FEW: usize = 60;
    let number = |place: &str| place.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    // `kernel.cu(12)` is NVRTC's way, `kernel.cu:12` that of others.
    let named: Vec<usize> =
        ["kernel.cu(", "kernel.cu:"].iter().flat_map(|before| log.split(before).skip(1).filter_map(number)).collect();
    let all = text.lines().count() <= FEW;
    let shown = |line: usize| all || named.iter().any(|&at| line.abs_diff(at) <= 3);
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|&(at, _)| shown(at));
    lines.map(|(at, line)| format!("{at:5} {line}\n")).collect()
}

/// A program of NVRTC, destroyed when dropped.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: rtc::nvrtcProgram,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: it was made and is not destroyed yet.
            unsafe { (self.nvrtc.nvrtcDestroyProgram)(&mut self.handle) };
        }
    }
}

impl Program<'_> {
    /// What a function writes, as long as another says.
    ///
    /// # Safety
    /// The program was made; the two functions belong together.
    unsafe fn bytes(
        &self,
        size: unsafe extern "C" fn(rtc::nvrtcProgram, *mut usize) -> u32,
        get: unsafe extern "C" fn(rtc::nvrtcProgram, *mut c_char) -> u32,
    ) -> Result<Vec<u8>, u32> {
        let mut len = 0;
        // SAFETY: the caller's promise; the bytes are as many as the program says.
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
