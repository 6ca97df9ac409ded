//! Compiled kernels on disk, so that the next process compiles nothing.
//!
//! A file holds `castiron kernel 1\n`, the key and the checksum (16 bytes each) and the CUBIN. What is not whole counts as absent; what
//! can't be written is left. Uses the file system; used by `compile`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const MAGIC: &[u8] = b"castiron kernel 1\n";

/// A hash of 128 bits (FNV-1a). Parts are kept apart by their lengths.
pub(super) fn hash(parts: &[&[u8]]) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut take = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    };
    for part in parts {
        take(&(part.len() as u64).to_le_bytes());
        take(part);
    }
    hash
}

/// `$CASTIRON_CUDA_CACHE` (empty: none), or `castiron/kernels` in the user's folder for caches.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let find = || match env::var_os("CASTIRON_CUDA_CACHE") {
        Some(folder) => (!folder.is_empty()).then(|| PathBuf::from(folder)),
        None => {
            let home = |home: OsString| PathBuf::from(home).join(".cache");
            let caches = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA")).map(PathBuf::from);
            Some(caches.or_else(|| set("HOME").map(home))?.join("castiron").join("kernels"))
        }
    };
    FOLDER.get_or_init(find).as_deref()
}

fn path(key: u128) -> Option<PathBuf> {
    Some(folder()?.join(format!("{key:032x}.cubin")))
}

/// What was kept under a key, if it is whole.
pub(super) fn read(key: u128) -> Option<Vec<u8>> {
    let entry = fs::read(path(key)?).ok()?;
    let rest = entry.strip_prefix(MAGIC)?;
    let (head, image) = rest.split_at_checked(32)?;
    let whole = head[..16] == key.to_le_bytes() && head[16..] == hash(&[image]).to_le_bytes();
    whole.then(|| image.to_vec())
}

/// Keeps a kernel, if that is possible. Others see all of it or nothing: it is written beside its place and renamed.
pub(super) fn write(key: u128, image: &[u8]) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let Some(path) = path(key) else { return };
    let unique = format!("{}.{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let temporary = path.with_extension(unique);
    let entry = [MAGIC, &key.to_le_bytes(), &hash(&[image]).to_le_bytes(), image].concat();
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&temporary, entry))
        .and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
}

/// Forgets a kernel that the driver does not take.
pub(super) fn forget(key: u128) {
    if let Some(path) = path(key) {
        let _ = fs::remove_file(path);
    }
}
