//! Files that are written whole or not at all. Used by what saves.

use crate::error::Result;
use crate::io::failed;
use std::fs::File;
use std::io::{BufWriter, Write};
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
/// the old file as it was. Who maps the old file keeps it. The new file has the old one's mode; of a link the file that it leads to is
/// replaced. What is no regular file, such as a FIFO or `/dev/null`, is written to where it is.
pub(super) fn write(
    op: &'static str,
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let wrong = |error: std::io::Error| failed(op, path, error);
    if path.file_name().is_none() {
        return Err(failed(op, path, "it names no file"));
    }
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| old.is_dir()) {
        return Err(failed(op, path, "it is a folder"));
    }
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut out = BufWriter::with_capacity(1 << 20, File::options().write(true).open(path).map_err(wrong)?);
        content(&mut out)?;
        return out.flush().map_err(wrong);
    }
    let place = followed(path).map_err(wrong)?;
    let Some(name) = place.file_name() else { return Err(failed(op, path, "it is a link to no file")) };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));

    let mut beside = Beside { path: place.with_file_name(hidden), is_kept: true };
    let mut options = File::options();
    // (Nobody else reads what takes the place of a file that they may not read.)
    #[cfg(unix)]
    if old.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let file = options.write(true).create_new(true).open(&beside.path).map_err(wrong)?;
    beside.is_kept = false;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    content(&mut out)?;
    let file = out.into_inner().map_err(|error| wrong(error.into_error()))?;
    #[cfg(unix)]
    if let Some(old) = old {
        keep_mode(&file, &old).map_err(wrong)?;
    }
    file.sync_all().map_err(wrong)?;
    drop(file);
    std::fs::rename(&beside.path, &place).map_err(wrong)?;
    beside.is_kept = true;
    // The new name is on the disk once the folder is. (Only Unix lets folders be opened; that it is there does not hang on this.)
    #[cfg(unix)]
    if let Ok(folder) = File::open(place.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Where a path leads if it is a link, be it to a file that is not there yet.
fn followed(path: &Path) -> std::io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST {
        if !std::fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(place);
        }
        // (A relative link is one from the folder that it is in; an absolute one takes the place of the path.)
        place = place.parent().unwrap_or(Path::new("")).join(std::fs::read_link(&place)?);
    }
    Err(std::io::Error::other(format!("it is a chain of more than {MOST} links")))
}

/// Gives a file the owner, the group and the mode of another. Where the group is not ours to give, its members have what all others have.
#[cfg(unix)]
fn keep_mode(file: &File, old: &std::fs::Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (new, mut mode) = (file.metadata()?, old.mode() & 0o777);
    if new.uid() != old.uid() {
        // (Only the system's administrator may.)
        let _ = fchown(file, Some(old.uid()), None);
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        mode = mode & 0o707 | (mode & 0o7) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}
