//! `Checkpoint`: named tensors in one or several safetensors files, listed without reading their elements.

mod header;
mod load;
mod save;

pub(super) use load::expected;
pub use save::{CheckpointWriter, Progress};
#[doc(hidden)]
pub use save::{FileLayout, layout};

use crate::dtype::DType;
use crate::error::Result;
use crate::io::{failed, map};
use crate::storage::HostBuffer;
use core::fmt;
use header::LENGTH;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

const OPEN: &str = "open";

/// Named tensors in a safetensors file, in a sharded one (`model.safetensors.index.json`), or in a folder with either, such as a Hugging
/// Face model (PyTorch: `safetensors.safe_open`, `safetensors.torch.load_file`, `torch.load`).
///
/// Opening reads names, dtypes and sizes; elements are read when a tensor is loaded, by [`Tensor::load`](crate::Tensor::load),
/// `AnyTensor::load` or [`Module::load`](crate::Module::load). [`map`](Self::map) memory-maps the file, so that tensors are loaded without
/// copying. (Feature `safetensors`.)
///
/// Files are untrusted: wrong lengths, overlapping tensors and sizes that overflow are errors that name the tensor.
///
/// ```
/// use castiron::{Checkpoint, Tensor, io::CheckpointWriter, shape, tensor};
/// let path = std::env::temp_dir().join(format!("castiron-{}.safetensors", std::process::id()));
/// CheckpointWriter::new().tensor("head.weight", &tensor![[1.0, 2.0], [3.0, 4.0]]).save(&path)?;
///
/// let file = Checkpoint::open(&path)?;
/// for (name, tensor) in file.tensors() {
///     println!("{name}: {tensor}"); // head.weight: float32 [2, 2]
/// }
/// let weight: Tensor<f32, shape![_, 2]> = Tensor::load(&file, "head.weight")?;
/// assert_eq!(weight.sum().item(), 10.0);
/// let error = Tensor::<f32, shape![_, 3]>::load(&file, "head.weight").unwrap_err();
/// assert!(error.to_string().ends_with("tensor `head.weight`: expected float32 [_, 3], found float32 [2, 2]"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "safetensors")]
#[doc(alias = "safe_open")]
#[doc(alias = "load_file")]
#[doc(alias = "state_dict")]
pub struct Checkpoint {
    path: PathBuf,
    files: Vec<DataFile>,
    tensors: BTreeMap<String, TensorInfo>,
    metadata: BTreeMap<String, String>,
}

/// One file with tensors.
struct DataFile {
    path: PathBuf,
    source: Source,
}

/// The source of a file's bytes.
enum Source {
    /// A file, read on demand.
    File(Mutex<File>),
    /// Memory, mapped or not.
    Memory(HostBuffer),
}

/// The description of one tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorInfo {
    dtype: Result<DType, &'static str>,
    sizes: Vec<usize>,
    /// The index of the file.
    file: usize,
    /// The offset in the file, in bytes.
    start: u64,
    bytes: usize,
}

impl TensorInfo {
    /// The dtype; `None` for those that castiron lacks (`F6_E2M3`, `F6_E3M2`).
    pub fn dtype(&self) -> Option<DType> {
        self.dtype.ok()
    }

    /// The name of the dtype: PyTorch's if castiron has the dtype, else the file's.
    pub fn dtype_name(&self) -> &'static str {
        self.dtype.map_or_else(|name| name, DType::name)
    }

    /// The sizes.
    pub fn shape(&self) -> &[usize] {
        &self.sizes
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The size of the elements in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// `float32 [2, 3]`
impl fmt::Display for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype_name(), self.sizes)
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint").field("path", &self.path).field("tensors", &self.tensors).finish_non_exhaustive()
    }
}

/// Opens a file as a source of bytes.
type Opener = dyn Fn(&Path) -> Result<(Source, u64)>;

impl Checkpoint {
    /// Opens a safetensors file, an index of shards, or a folder with either. A tensor's elements are read when it is loaded, into its own
    /// memory.
    ///
    /// # Errors
    /// If there is no such file, or it is not a safetensors file: the error says which file and what is wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_by(path.as_ref(), &|path| {
            let (file, bytes) = map::open(OPEN, path)?;
            Ok((Source::File(Mutex::new(file)), bytes))
        })
    }

    /// [`open`](Self::open) with memory-mapped files: tensors share the mapping, so loading takes no time and no memory, and pages are read
    /// when first used. A tensor that is not aligned for its dtype is copied. Writing to a tensor copies it first; the file never changes.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and if the file cannot be mapped.
    ///
    /// # Safety
    /// Nobody changes or truncates the files, in this or in another process, while the checkpoint, or a tensor loaded from it, exists.
    /// (Replacing a file as [`CheckpointWriter::save`] does is safe.)
    ///
    /// ```
    /// # use castiron::{Checkpoint, Tensor, io::CheckpointWriter, shape, tensor};
    /// # let path = std::env::temp_dir().join(format!("castiron-map-{}.safetensors", std::process::id()));
    /// # CheckpointWriter::new().tensor("w", &tensor![1.0, 2.0]).save(&path)?;
    /// // SAFETY: nobody writes to the file.
    /// let file = unsafe { Checkpoint::map(&path) }?;
    /// let w: Tensor<f32, shape![2]> = Tensor::load(&file, "w")?;
    /// let again = Tensor::<f32, shape![_]>::load(&file, "w")?;
    /// assert_eq!(w.as_slice().unwrap().as_ptr(), again.as_slice().unwrap().as_ptr());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_by(path.as_ref(), &|path| {
            let (file, bytes) = map::open(OPEN, path)?;
            let len = usize::try_from(bytes).map_err(|_| failed(OPEN, path, "it is larger than memory can address"))?;
            // SAFETY: the caller's promise.
            Ok((Source::Memory(unsafe { map::map(OPEN, path, &file, len) }?), bytes))
        })
    }

    /// A safetensors file in memory, which its tensors share. Errors name it `memory`.
    ///
    /// # Errors
    /// If it is not a safetensors file.
    ///
    /// ```
    /// use castiron::{Checkpoint, io::CheckpointWriter, tensor};
    /// let bytes = CheckpointWriter::new().tensor("w", &tensor![1, 2]).to_bytes()?;
    /// assert_eq!(Checkpoint::from_bytes(bytes)?.names().collect::<Vec<_>>(), ["w"]);
    /// assert!(Checkpoint::from_bytes(b"no such file".to_vec()).is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let path = Path::new("memory");
        let len = bytes.len() as u64;
        let mut checkpoint = Self::empty(path);
        checkpoint.add(path.to_owned(), Source::Memory(HostBuffer::from_vec(bytes)?), len, None)?;
        Ok(checkpoint)
    }

    fn empty(path: &Path) -> Self {
        Checkpoint { path: path.to_owned(), files: Vec::new(), tensors: BTreeMap::new(), metadata: BTreeMap::new() }
    }

    fn open_by(path: &Path, open: &Opener) -> Result<Self> {
        let found = if path.is_dir() { in_folder(path)? } else { path.to_owned() };
        let mut checkpoint = Self::empty(&found);
        if found.extension().is_none_or(|extension| extension != "json") {
            let (source, bytes) = open(&found)?;
            checkpoint.add(found, source, bytes, None)?;
            return Ok(checkpoint);
        }
        let index = read_index(&found)?;
        let mut shards: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, shard) in index.weight_map {
            shards.entry(shard).or_default().push(name);
        }
        for (shard, names) in shards {
            // An index may name only files in its own folder.
            let mut parts = Path::new(&shard).components();
            if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
                return Err(failed(OPEN, &found, format!("the shard `{shard}` is not a file beside the index")));
            }
            let place = found.with_file_name(&shard);
            let (source, bytes) = open(&place)?;
            checkpoint.add(place, source, bytes, Some(names))?;
        }
        Ok(checkpoint)
    }

    /// Adds a file with all its tensors, or only with those in `only`.
    fn add(&mut self, path: PathBuf, mut source: Source, bytes: u64, only: Option<Vec<String>>) -> Result<()> {
        let wrong = |reason: String| failed(OPEN, &path, reason);
        let mut length = [0; LENGTH];
        if bytes < LENGTH as u64 {
            return Err(wrong(format!("a safetensors file has at least {LENGTH} bytes, this one has {bytes}")));
        }
        source.read_at(0, &mut length).map_err(|error| wrong(error.to_string()))?;
        let length = header::length(length, bytes).map_err(wrong)?;
        let mut json = crate::error::filled(0_u8, length)?;
        source.read_at(LENGTH as u64, &mut json).map_err(|error| wrong(error.to_string()))?;
        let data = (LENGTH + length) as u64;
        let header::Header { mut rows, metadata } = header::read(&json, bytes - data).map_err(wrong)?;
        if let Some(names) = only {
            let named = names.into_iter().map(|name| match rows.remove(&name) {
                Some(row) => Ok((name, row)),
                None => Err(wrong(format!("the index says that tensor `{name}` is here, and it is not"))),
            });
            rows = named.collect::<Result<_>>()?;
        }
        let file = self.files.len();
        for (name, row) in rows {
            let info = TensorInfo {
                dtype: row.dtype,
                sizes: row.sizes,
                file,
                start: data + row.start as u64,
                bytes: row.bytes,
            };
            self.tensors.insert(name, info);
        }
        self.metadata.extend(metadata);
        self.files.push(DataFile { path, source });
        Ok(())
    }

    /// The opened file: for a folder, the file found in it; for shards, their index.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tensors, sorted by name.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        self.tensors.iter().map(|(name, info)| (name.as_str(), info))
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The description of a tensor; `None` if there is none with this name.
    pub fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is no tensor.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The metadata (`__metadata__`), such as `format`: `pt`.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Whether there is a tensor with this name, or one whose name starts with it and a dot.
    pub(super) fn has(&self, name: &str) -> bool {
        if name.is_empty() || self.tensors.contains_key(name) {
            return true;
        }
        let below = format!("{name}.");
        self.tensors.range(below.clone()..).next().is_some_and(|(found, _)| found.starts_with(&below))
    }
}

impl Source {
    /// Reads bytes from offset `at` on.
    fn read_at(&mut self, at: u64, to: &mut [u8]) -> std::io::Result<()> {
        match self {
            Source::File(file) => {
                let file = file.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(to)
            }
            Source::Memory(buffer) => {
                let bytes = usize::try_from(at).ok().and_then(|at| buffer.bytes(at, to.len()));
                to.copy_from_slice(bytes.ok_or(std::io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// `model.safetensors.index.json`
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

fn read_index(path: &Path) -> Result<Index> {
    let (mut file, bytes) = map::open(OPEN, path)?;
    let mut json = crate::error::room(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    file.read_to_end(&mut json).map_err(|error| failed(OPEN, path, error))?;
    serde_json::from_slice(&json).map_err(|error| failed(OPEN, path, format!("it is no index of shards: {error}")))
}

/// The file to open in a folder: Hugging Face's names first, else the only one.
fn in_folder(folder: &Path) -> Result<PathBuf> {
    const NAMES: [&str; 2] = ["model.safetensors.index.json", "model.safetensors"];
    if let Some(found) = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let wrong = |error: std::io::Error| failed(OPEN, folder, error);
    let (mut files, mut indices) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let name = entry.map_err(wrong)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".safetensors") {
            files.push(name);
        } else if name.ends_with(".safetensors.index.json") {
            indices.push(name);
        }
    }
    let found = if indices.is_empty() { files } else { indices };
    match found.as_slice() {
        [one] => Ok(folder.join(one)),
        [] => Err(failed(OPEN, folder, "the folder has no `model.safetensors`, nor any other `.safetensors`")),
        several => {
            let several = several.join(", ");
            Err(failed(OPEN, folder, format!("the folder has several checkpoints, name one of them: {several}")))
        }
    }
}
