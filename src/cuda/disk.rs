//! Compiled kernels on disk, so that the next process compiles nothing.
//!
//! An image from disk is given to the driver as it is, so nobody but the user may be its author: the folder is one that only the user
//! writes to, and entries are authenticated by a key that only the user reads. A file holds `castiron kernel 2\n`, its name and the
//! code of its image (16 bytes each) and the CUBIN. What is not whole counts as absent; what can't be written is left. Uses the file
//! system, `environment` and `file`; used by `compile`.

use super::environment;
use std::env;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const MAGIC: &[u8] = b"castiron kernel 2\n";

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

/// The folder, and the key of its entries.
struct Cache {
    folder: PathBuf,
    key: [u64; 4],
}

/// The cache of this process; `None` where there is none, or its folder is not the user's alone.
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

/// `$CASTIRON_CUDA_CACHE` (empty: none), or `castiron/kernels` in the user's folder for caches.
fn folder() -> Option<PathBuf> {
    if env::var_os("CASTIRON_CUDA_CACHE").is_some() {
        return environment::folder("CASTIRON_CUDA_CACHE");
    }
    let caches = environment::folder("XDG_CACHE_HOME").or_else(|| environment::folder("LOCALAPPDATA"));
    let caches = caches.or_else(|| Some(environment::folder("HOME")?.join(".cache")))?;
    Some(caches.join("castiron").join("kernels"))
}

/// Makes a folder, and those it is in, for the user alone.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Whether something is this user's, and others may do nothing with it that a mode says.
#[cfg(unix)]
fn is_own(metadata: &fs::Metadata, others: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: it asks for a number, and always gets it.
    metadata.uid() == unsafe { libc::geteuid() } && metadata.mode() & others == 0
}
/// (Elsewhere the folder for caches is in the user's profile, which is closed to others.)
#[cfg(not(unix))]
fn is_own(_: &fs::Metadata, _: u32) -> bool {
    true
}

const KEY: &str = "key";

/// The key, if nobody else may have seen or made it.
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

/// Makes a key, with which all entries of an earlier one are void. (Of two processes that do so at once one has it its way.)
fn make_key(folder: &Path) -> Option<[u64; 4]> {
    let key: [u64; 4] = random();
    write_file(folder, KEY, &[&key.map(u64::to_le_bytes).concat()]).ok()?;
    read_key(folder)
}

/// Numbers that nobody can foretell: the keys of the standard library's hashes are the system's.
fn random<const N: usize>() -> [u64; N] {
    let keyed = RandomState::new();
    core::array::from_fn(|at| keyed.hash_one(at))
}

/// Writes a file that only the user reads. Others see all of it or nothing: it is written beside its place, where nothing is, and renamed.
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

    /// What only who has the key can tell of an entry: two codes of 64 bits.
    fn code(&self, key: u128, image: &[u8]) -> [u8; 16] {
        let mut codes = [0; 16];
        let (halves, _) = codes.as_chunks_mut::<8>();
        for (half, key_half) in halves.iter_mut().zip(self.key.as_chunks::<2>().0) {
            // (SipHash-2-4 with a key, which hashes of other standard types do not take.)
            #[allow(deprecated)]
            let mut hasher = core::hash::SipHasher::new_with_keys(key_half[0], key_half[1]);
            hasher.write(&key.to_le_bytes());
            hasher.write(image);
            *half = hasher.finish().to_le_bytes();
        }
        codes
    }
}

/// What was kept under a key, if it is whole and the user's.
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

/// Keeps a kernel, if that is possible.
pub(super) fn write(key: u128, image: &[u8]) {
    if let Some(cache) = cache() {
        let parts = [MAGIC, &key.to_le_bytes(), &cache.code(key, image), image];
        let _ = write_file(&cache.folder, &Cache::name(key), &parts);
    }
}

/// Forgets a kernel that the driver does not take.
pub(super) fn forget(key: u128) {
    if let Some(cache) = cache() {
        let _ = fs::remove_file(cache.folder.join(Cache::name(key)));
    }
}
