//! Files that are written completely or not at all.

use crate::error::Result;
use crate::io::failed;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A temporary file in the same folder, removed on drop unless it was renamed to its target.
struct Beside {
    path: PathBuf,
    is_kept: bool,
}
impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_kept {
            // If this fails, too, nothing more can be done: the earlier error is reported.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes a file through a temporary one in the same folder, which is renamed when it is complete and on disk: an interrupted write leaves
/// the old file unchanged. Existing mappings of the old file stay valid. The new file has the old one's mode; a symbolic link's target is
/// replaced. Anything but a regular file, such as a FIFO or `/dev/null`, is written in place.
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
    // (The temporary file is not readable for anybody who may not read the file it replaces.)
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
    // Syncs the folder, so that the new name is on disk. (Only Unix can open folders; the file itself does not depend on it.)
    #[cfg(unix)]
    if let Ok(folder) = File::open(place.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// The target of a path if it is a symbolic link, even if the target does not exist yet.
fn followed(path: &Path) -> std::io::Result<PathBuf> {
    /// The same limit as in Linux.
    const MOST: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST {
        if !std::fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(place);
        }
        // (A relative link starts from its folder; an absolute one replaces the path.)
        place = place.parent().unwrap_or(Path::new("")).join(std::fs::read_link(&place)?);
    }
    Err(std::io::Error::other(format!("it is a chain of more than {MOST} links")))
}

/// Gives a file the owner, group and mode of another. If we may not set the group, its members get the permissions of others.
#[cfg(unix)]
fn keep_mode(file: &File, old: &std::fs::Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (new, mut mode) = (file.metadata()?, old.mode() & 0o777);
    if new.uid() != old.uid() {
        // (Only root may.)
        let _ = fchown(file, Some(old.uid()), None);
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        mode = mode & 0o707 | (mode & 0o7) << 3;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}
