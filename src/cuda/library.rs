//! Where the libraries of CUDA are: environment variables, the loader's own search, a toolkit, wheels of Python.
//!
//! Uses `libloading`; used by `driver`.

use super::environment;
use libloading::Library;
use std::path::{Path, PathBuf};

/// A library by its names, the first that is found; it stays loaded. `beside` is the beginning of the names of libraries in the same
/// folder that are loaded before it, since it would look for them in the loader's path alone.
pub(super) fn open(names: &[&str], beside: Option<&str>, folders: &[PathBuf]) -> Option<&'static Library> {
    let in_folder = |folder: &Path| {
        let path = names.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
        for other in beside.iter().flat_map(|start| starting_with(folder, start)) {
            load(&other);
        }
        load(&path)
    };
    // What `$CASTIRON_CUDA_LIB` names comes first; the loader's own search comes before the other folders.
    let named = environment::folder("CASTIRON_CUDA_LIB");
    named
        .as_deref()
        .and_then(in_folder)
        .or_else(|| names.iter().find_map(|name| load(Path::new(name))))
        .or_else(|| folders.iter().find_map(|folder| in_folder(folder)))
}

fn load(path: &Path) -> Option<&'static Library> {
    // SAFETY: these are the vendor's libraries, or what the user says they are; their initialisers expect nothing of us.
    let library = unsafe { Library::new(path) }.ok()?;
    // It is never unloaded: functions of it are used until the process ends.
    Some(Box::leak(Box::new(library)))
}

/// The files in a folder whose names begin so, in order.
fn starting_with(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Where a toolkit's libraries may be: `$CUDA_HOME`, `$CUDA_PATH`, `/usr/local/cuda`, and the wheels that pip has put into
/// `$VIRTUAL_ENV` (`nvidia-cuda-nvrtc`, `nvidia-cublas`, or those that came with PyTorch).
pub(super) fn toolkit_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(environment::folder) {
        folders.extend(["lib64", "lib", "bin/x64", "bin"].map(|folder| root.join(folder)));
    }
    folders.push(PathBuf::from("/usr/local/cuda/lib64"));
    if let Some(environment) = environment::folder("VIRTUAL_ENV") {
        let mut packages: Vec<PathBuf> = starting_with(&environment.join("lib"), "python3")
            .iter()
            .map(|python| python.join("site-packages/nvidia"))
            .collect();
        packages.push(environment.join("Lib/site-packages/nvidia"));
        for package in packages {
            // (Those of CUDA 13 are in one folder, on Windows in one of its own below it.)
            for of in ["cu13", "cuda_nvrtc", "cublas"] {
                folders.extend(["lib", "bin", "bin/x86_64"].map(|folder| package.join(of).join(folder)));
            }
        }
    }
    folders
}
