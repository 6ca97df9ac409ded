//! Opens files for reading.

use std::fs::{File, Metadata};
use std::io::{Error, Result};
use std::path::Path;

/// A regular file and its metadata. Every file to be read is opened here: opening a FIFO would wait for a writer.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata)> {
    let mut options = File::options();
    // Opening does not wait, and a terminal does not become the process's controlling terminal. For regular files these flags mean nothing.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    #[cfg(not(unix))]
    expect_regular(&std::fs::metadata(path)?)?;
    let file = options.read(true).open(path)?;
    // (The metadata of the opened file, not of its name, which may belong to another file by now.)
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
