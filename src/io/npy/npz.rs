//! `.npz` files: arrays by name, each an `.npy` file in a zip archive.

use super::{Header, Source, write};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::io::{StoredTensor, atomic, failed, map};
use crate::shape::Shape;
use crate::tensor::Tensor;
use std::io::{BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

const OPEN: &str = "load_npz";
const SAVE: &str = "save_npz";
/// The maximum compression ratio of deflate.
const MOST_DEFLATED: u64 = 1032;

trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// Arrays by name in an `.npz` file (`np.load`), compressed or not. (Feature `npy`.)
///
/// ```
/// use castiron::{Tensor, io::{Npz, NpzWriter}, shape, tensor};
/// let (x, y) = (tensor![[1.0, 2.0]], tensor![3, 4]);
/// let bytes = NpzWriter::new().tensor("x", &x).tensor("y", &y).compressed().to_bytes()?;
/// let mut file = Npz::from_bytes(bytes)?;
/// assert_eq!(file.names().collect::<Vec<_>>(), ["x", "y"]);
/// let x: Tensor<f32, shape![1, _]> = file.load("x")?;
/// assert_eq!(x.to_vec(), [1.0, 2.0]);
/// # Ok::<(), castiron::Error>(())
/// ```
pub struct Npz {
    path: PathBuf,
    archive: ZipArchive<Box<dyn ReadSeek>>,
    names: Vec<String>,
    /// Of the whole file.
    bytes: u64,
}

/// Checks that NumPy writes this compression method; else says what to do.
fn expect_known(method: CompressionMethod) -> Result<(), String> {
    if matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Ok(());
    }
    let names = [
        (CompressionMethod::DEFLATE64, "Deflate64"),
        (CompressionMethod::BZIP2, "bzip2"),
        (CompressionMethod::LZMA, "LZMA"),
        (CompressionMethod::ZSTD, "Zstandard"),
        (CompressionMethod::XZ, "XZ"),
    ];
    let name =
        names.iter().find(|(known, _)| *known == method).map_or_else(|| format!("{method:?}"), |of| of.1.to_owned());
    Err(format!(
        "it is compressed by {name}, which castiron does not read: save it by `np.savez` or `np.savez_compressed`"
    ))
}

impl core::fmt::Debug for Npz {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Npz").field("path", &self.path).field("names", &self.names).finish_non_exhaustive()
    }
}

impl Npz {
    /// Opens a file; arrays are read when loaded.
    ///
    /// # Errors
    /// If there is no such file, or it is not a zip archive.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, bytes) = map::open(OPEN, path)?;
        Self::over(path.to_owned(), Box::new(BufReader::new(file)), bytes)
    }

    /// Opens a file in memory. Errors name it `memory`.
    ///
    /// # Errors
    /// If it is not a zip archive.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let len = bytes.len() as u64;
        Self::over(PathBuf::from("memory"), Box::new(Cursor::new(bytes)), len)
    }

    fn over(path: PathBuf, from: Box<dyn ReadSeek>, bytes: u64) -> Result<Self> {
        let archive = ZipArchive::new(from).map_err(|error| failed(OPEN, &path, error))?;
        let names = archive.file_names().filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned())).collect();
        Ok(Npz { path, archive, names, bytes })
    }

    /// The names of the arrays, without `.npy`, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Runs a function on an array.
    fn with<T>(&mut self, name: &str, run: impl FnOnce(&mut Source<'_>, super::Wrong<'_>) -> Result<T>) -> Result<T> {
        let Npz { path, archive, bytes, .. } = self;
        let wrong = |reason: String| failed(OPEN, path, format!("array `{name}`: {reason}"));
        let mut entry = archive.by_name(&format!("{name}.npy")).map_err(|error| wrong(error.to_string()))?;
        expect_known(entry.compression()).map_err(wrong)?;
        // The declared length is limited to what the compressed data can expand to.
        let compressed = entry.compressed_size().min(*bytes);
        let bytes = entry.size().min(compressed.saturating_mul(MOST_DEFLATED).saturating_add(MOST_DEFLATED));
        run(&mut Source { from: &mut entry, bytes }, &wrong)
    }

    /// Dtype and sizes of an array, such as `float32 [2, 3]`, without reading its elements.
    ///
    /// # Errors
    /// If there is no array with this name, or castiron does not support it.
    pub fn info(&mut self, name: &str) -> Result<(crate::DType, Vec<usize>)> {
        self.with(name, |source, wrong| {
            let Header { dtype, sizes, .. } = source.header().map_err(wrong)?;
            Ok((dtype, sizes))
        })
    }

    /// Loads an array with this dtype and these sizes.
    ///
    /// # Errors
    /// If there is no array with this name, its dtype or shape differs from the type's, or it cannot be read.
    pub fn load<E: Element, S: Shape>(&mut self, name: &str) -> Result<Tensor<E, S>> {
        self.with(name, |source, wrong| source.typed(wrong))
    }

    /// Loads an array of any dtype and sizes.
    ///
    /// # Errors
    /// If there is no array of this name, castiron has no such dtype, or it cannot be read.
    #[cfg(feature = "any")]
    pub fn load_any(&mut self, name: &str) -> Result<crate::AnyTensor> {
        self.with(name, |source, wrong| source.untyped(wrong))
    }
}

/// Tensors to save as an `.npz` file (`np.savez`, `np.savez_compressed`). They may be typed or not. (Feature `npy`.)
#[derive(Default)]
pub struct NpzWriter<'a> {
    tensors: Vec<(String, &'a dyn StoredTensor)>,
    is_compressed: bool,
}

impl<'a> NpzWriter<'a> {
    /// A writer without tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor.
    pub fn tensor(mut self, name: impl Into<String>, tensor: &'a dyn StoredTensor) -> Self {
        self.tensors.push((name.into(), tensor));
        self
    }

    /// Compresses the arrays (`np.savez_compressed`).
    pub fn compressed(mut self) -> Self {
        self.is_compressed = true;
        self
    }

    /// Writes the file, which is renamed to its name when it is complete and on disk.
    ///
    /// # Errors
    /// If a name is used twice, NumPy lacks the dtype (bfloat16, complex32, the float8 formats and float4), a tensor has no data (on
    /// `meta`), or the file cannot be written.
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        atomic::write(SAVE, path, |out| self.write(path, out))
    }

    /// The contents of the file, in memory.
    ///
    /// # Errors
    /// As for [`save`](Self::save).
    pub fn to_bytes(self) -> Result<Vec<u8>> {
        let mut bytes = Cursor::new(Vec::new());
        self.write(Path::new("memory"), &mut bytes)?;
        Ok(bytes.into_inner())
    }

    fn write(self, path: &Path, out: &mut (impl Write + Seek)) -> Result<()> {
        let method = if self.is_compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let mut archive = ZipWriter::new(out);
        for (name, tensor) in self.tensors {
            let wrong = |reason: String| failed(SAVE, path, format!("array `{name}`: {reason}"));
            let options = SimpleFileOptions::default().compression_method(method).large_file(true);
            archive.start_file(format!("{name}.npy"), options).map_err(|error| wrong(error.to_string()))?;
            write("", tensor, &mut archive, &wrong).map_err(|error| match error {
                Error::File { .. } => error,
                error => wrong(error.to_string()),
            })?;
        }
        archive.finish().map(drop).map_err(|error| failed(SAVE, path, error))
    }
}
