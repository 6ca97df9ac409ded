//! A pretend GPU: stand-ins for the driver, for NVRTC and for cublasLt, built here with the system's C++ compiler, and tests that run on
//! them, each in a process of its own.
//!
//! `driver.cpp` has two devices with their own memory, `nvrtc.cpp` compiles kernel texts for the host, `executor.cpp` runs them,
//! `blaslt.cpp` multiplies matrices.

use std::ffi::{CString, c_char, c_int, c_long};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs};

/// Says to a test that it is the process of its own.
const INSIDE: &str = "CASTIRON_TEST_INSIDE";
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cuda/pretend");
/// The device library, which stands before the text of most kernels.
const LIBRARY: &str = "../../../src/ops/record/cuda/prelude.h";

/// How kernels are compiled, and what stands before each of them. (With C's `math.h` in place of C++'s a kernel is compiled
/// in about 0.7 of the time.)
const KERNEL_FLAGS: &str =
    "-std=c++17 -O1 -shared -fPIC -w -fvisibility=hidden -fno-strict-aliasing -D_GLIBCXX_INCLUDE_NEXT_C_HEADERS";

/// The C++ compiler: `$CXX`, or the system's.
fn compiler() -> Option<String> {
    let named = env::var("CXX").ok();
    let known = ["c++", "g++", "clang++"].map(str::to_owned);
    let works = |name: &String| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    named.into_iter().chain(known).find(works)
}

/// The folder with the libraries, built once for each state of their sources; `None` where there is no compiler.
fn libraries() -> Option<&'static Path> {
    if is_real() {
        println!("NOTICE: not run: this test is one for the pretend GPU");
        return None;
    }
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(build).as_deref()
}

/// A number for the state of files, and of what kernels are compiled with.
fn hash(names: &[&str]) -> u64 {
    let files = names.iter().flat_map(|name| fs::read(format!("{SOURCES}/{name}")).unwrap());
    files
        .chain(KERNEL_FLAGS.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A folder of compiled kernels that tests share, those of later runs, too: for tests that do not count compilations.
pub fn shared_cache() -> String {
    let beside = if env::var_os("PRETEND_BESIDE").is_some() { "-beside" } else { "" };
    // (Nobody finds the kernels of a mistake that is planted in all tests.)
    let mistaken =
        env::var_os("PRETEND_MISTAKE").map_or(String::new(), |_| format!("-mistaken-{}", std::process::id()));
    let name = format!(
        "pretend-kernels-{:016x}{beside}{mistaken}",
        hash(&["driver.cpp", "nvrtc.cpp", "executor.h", "executor.cpp", "ceilings.h", LIBRARY])
    );
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_string_lossy().into_owned()
}

fn build() -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        println!("NOTICE: not run: the pretend GPU is one for Linux");
        return None;
    }
    let Some(compiler) = compiler() else {
        println!("NOTICE: not run: no C++ compiler to build the pretend GPU with");
        return None;
    };
    let hash = hash(&["driver.cpp", "nvrtc.cpp", "blaslt.cpp", "executor.h", "executor.cpp", "ceilings.h", LIBRARY]);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("pretend-{hash:016x}"));
    if folder.exists() {
        return Some(folder);
    }
    // Built under another name and then renamed, since other tests may be building it at the same time.
    let beside = folder.with_extension(format!("{}.tmp", std::process::id()));
    fs::create_dir_all(&beside).unwrap();
    for (source, library) in [
        ("driver.cpp", "libcuda.so.1"),
        ("nvrtc.cpp", "libnvrtc.so.13"),
        ("blaslt.cpp", "libcublasLt.so.13"),
        ("empty.cpp", "empty.so"),
    ] {
        let path = match source {
            "empty.cpp" => {
                let path = beside.join(source);
                fs::write(&path, "extern \"C\" int nothing() { return 0; }").unwrap();
                path
            }
            _ => Path::new(SOURCES).join(source),
        };
        let built = Command::new(&compiler)
            .args(["-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-U_FORTIFY_SOURCE"])
            .args([format!("-Wl,-soname,{library}"), format!("-DPRETEND_FOLDER=\"{SOURCES}\"")])
            .args([format!("-DPRETEND_COMPILER=\"{compiler}\""), format!("-DPRETEND_FLAGS=\"{KERNEL_FLAGS}\"")])
            .args([format!("-DPRETEND_HEADERS=\"{}\"", folder.display())])
            .args([format!("-DPRETEND_LIBRARY=\"{SOURCES}/{LIBRARY}\"")])
            .arg("-o")
            .args([&beside.join(library), &path])
            .args(["-ldl", "-pthread"])
            .output()
            .unwrap();
        assert!(built.status.success(), "{source}:\n{}", String::from_utf8_lossy(&built.stderr));
    }
    // What stands before every kernel, and what runs it, is compiled once.
    let (header, library) = (beside.join("executor.h"), beside.join("library.h"));
    let executor = format!("#include \"{SOURCES}/executor.h\"\n");
    fs::write(&header, &executor).unwrap();
    fs::write(&library, format!("{executor}namespace {{\n#include \"{SOURCES}/{LIBRARY}\"\n}}\n")).unwrap();
    let flags = KERNEL_FLAGS.split(' ').chain(["-ffp-contract=off"]);
    for (kind, source, compiled) in [
        ("-xc++-header", header, "executor.h.gch"),
        ("-xc++-header", library, "library.h.gch"),
        ("-c", Path::new(SOURCES).join("executor.cpp"), "executor.o"),
    ] {
        let compiled = beside.join(compiled);
        let output =
            Command::new(&compiler).args(flags.clone()).arg(kind).arg("-o").args([compiled, source]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    if fs::rename(&beside, &folder).is_err() {
        fs::remove_dir_all(&beside).unwrap();
    }
    Some(folder)
}

/// A folder of its own for a test, empty.
pub fn fresh_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What drivers are there.
#[derive(Clone, Copy, PartialEq)]
pub enum Installed {
    /// The pretend driver, the pretend NVRTC and the pretend cublasLt.
    All,
    /// The pretend driver and the pretend NVRTC.
    Both,
    /// The pretend driver alone.
    DriverOnly,
    /// A library called like the driver, with nothing in it.
    Empty,
    /// Nothing.
    Nothing,
}

/// Runs the test `name` again in a process where this is installed and these variables are set; `None` where there is no compiler.
pub fn again(name: &str, installed: Installed, variables: &[(&str, &str)]) -> Option<Output> {
    let libraries = libraries()?;
    let folder = fresh_folder(&name.replace("::", "-"));
    let link = |from: &str, to: &str| fs::hard_link(libraries.join(from), folder.join(to)).unwrap();
    match installed {
        Installed::All | Installed::Both => {
            link("libcuda.so.1", "libcuda.so.1");
            link("libnvrtc.so.13", "libnvrtc.so.13");
            if installed == Installed::All {
                link("libcublasLt.so.13", "libcublasLt.so.13");
            }
        }
        Installed::DriverOnly => link("libcuda.so.1", "libcuda.so.1"),
        Installed::Empty => link("empty.so", "libcuda.so.1"),
        Installed::Nothing => {}
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    for other in ["CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "CASTIRON_CUDA_SYNC", "PRETEND_ORDER"] {
        command.env_remove(other);
    }
    let cache = folder.join("cache");
    command.env("CASTIRON_CUDA_LIB", &folder).env("CASTIRON_CUDA_CACHE", &cache).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let _ = fs::remove_dir_all(&folder);
    Some(output)
}

/// Runs a test's body in a process of its own, where this is installed; the test fails where that does.
pub fn within(name: &str, installed: Installed, variables: &[(&str, &str)], body: impl FnOnce()) {
    if env::var_os(INSIDE).is_some() {
        return body();
    }
    if let Some(output) = again(name, installed, variables) {
        expect_passed(&output);
    }
}

fn expect_passed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    println!("{out}");
    assert!(output.status.success() && out.contains("1 passed"), "{}\n{out}\n{errors}", output.status);
}

/// Whether tests run on the GPU of this machine.
pub fn is_real() -> bool {
    env::var_os("CASTIRON_TEST_GPU").is_some_and(|value| value == "1")
}

/// As [`within`] with all that is pretended; with `CASTIRON_TEST_GPU=1`, with the libraries of this machine.
pub fn on_any_gpu(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if !is_real() || env::var_os(INSIDE).is_some() {
        // What these tests compile, others need as well.
        let cache = shared_cache();
        return within(name, Installed::All, &[&[("CASTIRON_CUDA_CACHE", &*cache)], variables].concat(), body);
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([name, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    expect_passed(&output);
}

/// Whether this is a test's own process.
pub fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

/// A function of the pretend driver or NVRTC, which have been loaded.
fn function(library: &str, name: &str) -> *mut core::ffi::c_void {
    let (library, name) = (CString::new(library).unwrap(), CString::new(name).unwrap());
    // SAFETY: strings that end with a zero; the library is only looked up.
    let found =
        unsafe { libc::dlsym(libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD), name.as_ptr()) };
    assert!(!found.is_null(), "{name:?} is not there");
    found
}

/// Allocations that nobody has freed.
pub fn live() -> usize {
    // SAFETY: the function's signature in `driver.cpp`.
    let live: extern "C" fn() -> c_long = unsafe { core::mem::transmute(function("libcuda.so.1", "pretend_live")) };
    live() as usize
}

/// Graphs, and streams beside the first of each device, that nobody has destroyed.
pub fn graphs() -> usize {
    // SAFETY: as above.
    let graphs: extern "C" fn() -> c_long = unsafe { core::mem::transmute(function("libcuda.so.1", "pretend_graphs")) };
    graphs() as usize
}

/// The `at`-th call of a kind from now on, and `times` in all, fail with a code.
pub fn fault(what: &str, at: usize, times: usize, code: u32) {
    // SAFETY: as above.
    let fault: extern "C" fn(*const c_char, c_long, c_long, c_int) =
        unsafe { core::mem::transmute(function("libcuda.so.1", "pretend_fault")) };
    fault(CString::new(what).unwrap().as_ptr(), at as c_long, times as c_long, code as c_int);
}

/// How often a kind of call came.
pub fn count(what: &str) -> usize {
    // SAFETY: as above.
    let count: extern "C" fn(*const c_char) -> c_long =
        unsafe { core::mem::transmute(function("libcuda.so.1", "pretend_count")) };
    count(CString::new(what).unwrap().as_ptr()) as usize
}

/// The `at`-th compilation from now on fails.
pub fn compile_fault(at: usize) {
    // SAFETY: the function's signature in `nvrtc.cpp`.
    let fault: extern "C" fn(c_long) =
        unsafe { core::mem::transmute(function("libnvrtc.so.13", "pretend_compile_fault")) };
    fault(at as c_long);
}

/// Programs of NVRTC that nobody has destroyed.
pub fn programs() -> usize {
    // SAFETY: as above.
    let programs: extern "C" fn() -> c_long =
        unsafe { core::mem::transmute(function("libnvrtc.so.13", "pretend_programs")) };
    programs() as usize
}

/// How often `PRETEND_MISTAKE` changed a text.
pub fn mistakes() -> usize {
    // SAFETY: as above.
    let mistakes: extern "C" fn() -> c_long =
        unsafe { core::mem::transmute(function("libnvrtc.so.13", "pretend_mistakes")) };
    mistakes() as usize
}
