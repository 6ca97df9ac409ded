//! Files that are opened to be read. Uses the standard library; used by `io` and by the cache of kernels.

use std::fs::{File, Metadata};
use std::io::{Error, Result};
use std::path::Path;

/// A regular file, and what is known of it. Everything that is read is opened here: to open a FIFO is to wait for who writes to it.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata)> {
    let mut options = File::options();
    // It is not waited for, and a terminal does not become the process's own. Of regular files these flags say nothing.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    #[cfg(not(unix))]
    expect_regular(&std::fs::metadata(path)?)?;
    let file = options.read(true).open(path)?;
    // (Of what has been opened, and not of the name, which may be another file's by now.)
    let metadata = file.metadata()?;
    expect_regular(&metadata)?;
    Ok((file, metadata))
}

fn expect_regular(metadata: &Metadata) -> Result<()> {
    match metadata {
        metadata if metadata.is_file() => Ok(()),
        metadata if metadata.is_dir() => Err(Error::other("it is a folder")),
        _ => Err(Error::other("it is no regular file (a pipe, a device or a socket)")),
    }
}
