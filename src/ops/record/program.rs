//! Compiles, loads and runs text, for tests.
//!
//! The compiler is named by `CASTIRON_CXX`, else `c++`. Library functions, whose last bits differ, call back into Rust.

use super::arguments::Arguments;
use super::cuda::PRELUDE;
use core::ffi::c_void;
use std::ffi::CString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

/// A function of one or two machine numbers, as bits.
pub(super) type Run = fn(&[u64]) -> u64;

/// The functions that compiled text calls back, by index.
static CALLED: Mutex<Vec<Run>> = Mutex::new(Vec::new());

extern "C" fn call_back(which: u32, a: u64, b: u64) -> u64 {
    let run = CALLED.lock().unwrap()[which as usize];
    run(&[a, b])
}

const CALLS: &str = r#"
extern "C" { ci_u64 (*ci_host)(unsigned, ci_u64, ci_u64); }
template<class T> static T ci_of(ci_u64 b) { T x; memcpy(&x, &b, sizeof x); return x; }
template<class T> static ci_u64 ci_bits(T x) { ci_u64 b = 0; memcpy(&b, &x, sizeof x); return b; }
"#;

/// The text of a function with this name and one or two operands of a type, which calls back into Rust.
pub(super) fn called_back(name: &str, operands: usize, ty: &str, run: Run) -> String {
    let mut all = CALLED.lock().unwrap();
    let which = all.len();
    all.push(run);
    let (parameters, given) = match operands {
        1 => (format!("{ty} x"), "ci_bits(x), 0"),
        _ => (format!("{ty} x, {ty} y"), "ci_bits(x), ci_bits(y)"),
    };
    format!("CI_FN {ty} {name}({parameters}) {{ return ci_of<{ty}>(ci_host({which}, {given})); }}\n")
}

/// A compiled library.
pub(super) struct Program {
    handle: *mut c_void,
    folder: PathBuf,
}
impl Program {
    /// The start of every text.
    pub(super) fn head() -> String {
        format!("#include <math.h>\n#include <string.h>\n#define CI_HOST\n{PRELUDE}\n{CALLS}")
    }
    /// `None` without a compiler.
    pub(super) fn compile(source: &str) -> Option<Program> {
        static COUNT: Mutex<usize> = Mutex::new(0);
        let number = {
            let mut count = COUNT.lock().unwrap();
            *count += 1;
            *count
        };
        let folder = std::env::temp_dir().join(format!("castiron-kernels-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, library) = (folder.join("kernels.cpp"), folder.join("kernels.so"));
        std::fs::write(&file, source).unwrap();
        let compiler = std::env::var("CASTIRON_CXX").unwrap_or_else(|_| "c++".into());
        let flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-o"];
        let status = match Command::new(compiler).args(flags).arg(&library).arg(&file).status() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            status => status.unwrap(),
        };
        assert!(status.success(), "{} does not compile", file.display());
        let name = CString::new(library.to_str().unwrap()).unwrap();
        // SAFETY: the library was compiled above and runs nothing when it is loaded.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{} can't be loaded", library.display());
        let program = Program { handle, folder };
        let place = program.symbol("ci_host").cast::<extern "C" fn(u32, u64, u64) -> u64>();
        // SAFETY: the library declares a pointer to such a function there.
        unsafe { place.write(call_back) };
        Some(program)
    }
    fn symbol(&self, name: &str) -> *mut c_void {
        let text = CString::new(name).unwrap();
        // SAFETY: the library is loaded.
        let symbol = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        assert!(!symbol.is_null(), "there is no {name}");
        symbol
    }
    /// Runs a kernel.
    pub(super) fn launch(&self, name: &str, arguments: &Arguments) {
        // SAFETY: the function has this type.
        let run: extern "C" fn(*const *mut c_void) =
            unsafe { core::mem::transmute(self.symbol(&format!("run_{name}"))) };
        run(arguments.pointers().as_ptr());
    }
}
impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
