//! Finding CUDA's libraries: environment variables, the loader's search path, a toolkit, Python wheels.

use super::environment;
use libloading::Library;
use std::path::{Path, PathBuf};

/// Opens the first library found among `names`; it stays loaded. `beside` is the name prefix of dependencies in the same folder, which are
/// loaded first, because the loader would search for them in its own path only.
pub(super) fn open(names: &[&str], beside: Option<&str>, folders: &[PathBuf]) -> Option<&'static Library> {
    let in_folder = |folder: &Path| {
        let path = names.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
        for other in beside.iter().flat_map(|start| starting_with(folder, start)) {
            load(&other);
        }
        load(&path)
    };
    // `$CASTIRON_CUDA_LIB` comes first; the loader's search path comes before the other folders.
    let named = environment::folder("CASTIRON_CUDA_LIB");
    named
        .as_deref()
        .and_then(in_folder)
        .or_else(|| names.iter().find_map(|name| load(Path::new(name))))
        .or_else(|| folders.iter().find_map(|folder| in_folder(folder)))
}

fn load(path: &Path) -> Option<&'static Library> {
    // SAFETY: these are the vendor's libraries, or ones the user named; their initialisers have no requirements.
    let library = unsafe { Library::new(path) }.ok()?;
    // Never unloaded: its functions are used until the process ends.
    Some(Box::leak(Box::new(library)))
}

/// The files in a folder whose names start with `start`, sorted.
fn starting_with(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Folders that may hold a toolkit's libraries: `$CUDA_HOME`, `$CUDA_PATH`, `/usr/local/cuda`, and the wheels in `$VIRTUAL_ENV`
/// (`nvidia-cuda-nvrtc`, `nvidia-cublas`, or those installed with PyTorch).
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
            // (CUDA 13's wheels share one folder; on Windows, a subfolder of it.)
            for of in ["cu13", "cuda_nvrtc", "cublas"] {
                folders.extend(["lib", "bin", "bin/x86_64"].map(|folder| package.join(of).join(folder)));
            }
        }
    }
    folders
}
