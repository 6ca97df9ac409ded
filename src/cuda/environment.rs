//! Environment variables that name folders. Used by `library` and `disk`.

use std::path::PathBuf;

/// The folder that a variable names, if its path is absolute. An empty or a relative one leads to wherever the process happens to be, where
/// others may have put libraries and kernels.
pub(super) fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}
