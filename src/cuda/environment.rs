//! Environment variables that name folders.

use std::path::PathBuf;

/// The folder named by a variable, if its path is absolute. An empty or relative path would depend on the working directory, where others
/// may have put libraries and kernels.
pub(super) fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}
