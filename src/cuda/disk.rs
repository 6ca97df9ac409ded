//! An on-disk cache of compiled kernels, so that the next process need not compile.
//!
//! An image from disk is passed to the driver unchecked, so only the user may have written it: the folder is writable by the user only, and
//! entries are authenticated with a key that only the user can read. A file holds `castiron kernel 2 `, its name and the authentication
//! code of its image (16 bytes each) and the CUBIN. Incomplete entries count as absent; write errors are ignored.

use super::environment;
use std::env;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const MAGIC: &[u8] = b"castiron kernel 2\n";

/// A 128-bit hash (FNV-1a). Parts are separated by their lengths.
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

/// The folder, and the key of its entries.
struct Cache {
    folder: PathBuf,
    key: [u64; 4],
}

/// The cache of this process; `None` if there is none, or its folder is accessible to others.
fn cache() -> Option<&'static Cache> {
    static CACHE: OnceLock<Option<Cache>> = OnceLock::new();
    let open = || {
        let folder = folder()?;
        make_folder(&folder).ok()?;
        let is_private = fs::metadata(&folder).is_ok_and(|metadata| metadata.is_dir() && is_own(&metadata, 0o022));
        let key = is_private.then(|| read_key(&folder).or_else(|| make_key(&folder)))??;
        Some(Cache { folder, key })
    };
    CACHE.get_or_init(open).as_ref()
}

/// `$CASTIRON_CUDA_CACHE` (empty: no cache), or `castiron/kernels` in the user's cache folder.
fn folder() -> Option<PathBuf> {
    if env::var_os("CASTIRON_CUDA_CACHE").is_some() {
        return environment::folder("CASTIRON_CUDA_CACHE");
    }
    let caches = environment::folder("XDG_CACHE_HOME").or_else(|| environment::folder("LOCALAPPDATA"));
    let caches = caches.or_else(|| Some(environment::folder("HOME")?.join(".cache")))?;
    Some(caches.join("castiron").join("kernels"))
}

/// Creates a folder and its parents, accessible to the user only.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Whether a file is owned by this user, and none of the permission bits `others` is set.
#[cfg(unix)]
fn is_own(metadata: &fs::Metadata, others: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: it takes no arguments and cannot fail.
    metadata.uid() == unsafe { libc::geteuid() } && metadata.mode() & others == 0
}
/// (On other systems, the cache folder is in the user's profile, which is private.)
#[cfg(not(unix))]
fn is_own(_: &fs::Metadata, _: u32) -> bool {
    true
}

const KEY: &str = "key";

/// The key, if nobody else may have read or written it.
fn read_key(folder: &Path) -> Option<[u64; 4]> {
    let (mut file, metadata) = crate::file::open(&folder.join(KEY)).ok()?;
    let mut bytes = [0; 32];
    if !is_own(&metadata, 0o077) || metadata.len() != bytes.len() as u64 {
        return None;
    }
    file.read_exact(&mut bytes).ok()?;
    let (numbers, _) = bytes.as_chunks::<8>();
    Some(core::array::from_fn(|at| u64::from_le_bytes(numbers[at])))
}

/// Makes a new key, which invalidates all entries made with an earlier one. (If two processes do so at once, one key wins.)
fn make_key(folder: &Path) -> Option<[u64; 4]> {
    let key: [u64; 4] = random();
    write_file(folder, KEY, &[&key.map(u64::to_le_bytes).concat()]).ok()?;
    read_key(folder)
}

/// Unpredictable numbers: the standard library seeds its hash keys from the operating system.
fn random<const N: usize>() -> [u64; N] {
    let keyed = RandomState::new();
    core::array::from_fn(|at| keyed.hash_one(at))
}

/// Writes a file readable by the user only. Others see all of it or nothing: it is written to a new temporary file and renamed.
fn write_file(folder: &Path, name: &str, parts: &[&[u8]]) -> std::io::Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let [number] = random();
    let temporary = folder.join(format!(".{number:016x}.{}.tmp", COUNT.fetch_add(1, Ordering::Relaxed)));
    let mut options = fs::File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.write(true).create_new(true).open(&temporary)?;
    let written = parts.iter().try_for_each(|part| file.write_all(part));
    drop(file);
    let written = written.and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

impl Cache {
    fn name(key: u128) -> String {
        format!("{key:032x}.cubin")
    }

    /// The authentication code of an entry: two keyed 64-bit hashes.
    fn code(&self, key: u128, image: &[u8]) -> [u8; 16] {
        let mut codes = [0; 16];
        let (halves, _) = codes.as_chunks_mut::<8>();
        for (half, key_half) in halves.iter_mut().zip(self.key.as_chunks::<2>().0) {
            // (SipHash-2-4 with our key, which other hashers of the standard library do not accept.)
            #[allow(deprecated)]
            let mut hasher = core::hash::SipHasher::new_with_keys(key_half[0], key_half[1]);
            hasher.write(&key.to_le_bytes());
            hasher.write(image);
            *half = hasher.finish().to_le_bytes();
        }
        codes
    }
}

/// The image stored under a key, if it is complete and authentic.
pub(super) fn read(key: u128) -> Option<Vec<u8>> {
    let cache = cache()?;
    let (mut file, _) = crate::file::open(&cache.folder.join(Cache::name(key))).ok()?;
    let mut entry = Vec::new();
    file.read_to_end(&mut entry).ok()?;
    let rest = entry.strip_prefix(MAGIC)?;
    let (head, image) = rest.split_at_checked(32)?;
    let is_authentic = head[..16] == key.to_le_bytes() && head[16..] == cache.code(key, image);
    is_authentic.then(|| image.to_vec())
}

/// Stores a kernel, if possible.
pub(super) fn write(key: u128, image: &[u8]) {
    if let Some(cache) = cache() {
        let parts = [MAGIC, &key.to_le_bytes(), &cache.code(key, image), image];
        let _ = write_file(&cache.folder, &Cache::name(key), &parts);
    }
}

/// Removes a kernel that the driver rejects.
pub(super) fn forget(key: u128) {
    if let Some(cache) = cache() {
        let _ = fs::remove_file(cache.folder.join(Cache::name(key)));
    }
}
