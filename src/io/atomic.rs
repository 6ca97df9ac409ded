//! Files that are written whole or not at all. Used by what saves.

use crate::error::Result;
use crate::io::failed;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file beside another, removed unless it took its place.
struct Beside {
    path: PathBuf,
    is_kept: bool,
}
impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_kept {
            // If that fails, too, there is nothing better to do: the error on the way is what counts.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes a file through another one in the same folder, which takes its name when all of it is on the disk: what is interrupted leaves
/// the old file as it was. Who maps the old file keeps it.
pub(super) fn write(
    op: &'static str,
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let Some(name) = path.file_name() else { return Err(failed(op, path, "it names no file")) };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let wrong = |error: std::io::Error| failed(op, path, error);

    let mut beside = Beside { path: path.with_file_name(hidden), is_kept: true };
    let file = File::options().write(true).create_new(true).open(&beside.path).map_err(wrong)?;
    beside.is_kept = false;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    content(&mut out)?;
    let file = out.into_inner().map_err(|error| wrong(error.into_error()))?;
    file.sync_all().map_err(wrong)?;
    drop(file);
    std::fs::rename(&beside.path, path).map_err(wrong)?;
    beside.is_kept = true;
    // The new name is on the disk once the folder is. (Only Unix lets folders be opened; that it is there does not hang on this.)
    #[cfg(unix)]
    if let Ok(folder) = File::open(path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
    Ok(())
}
