//! `CheckpointWriter`: saves named tensors as a safetensors file.

use super::header::{self, LENGTH, METADATA};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::{StoredTensor, atomic, bytes, failed};
use safetensors::tensor::TensorInfo as Described;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

const OP: &str = "save";
/// The data start at a multiple of this, so that mapped tensors are aligned.
const ALIGNMENT: usize = 64;

/// The progress of loading or saving.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The current tensor.
    pub name: &'a str,
    /// Bytes processed so far.
    pub done: u64,
    /// Bytes in total.
    pub total: u64,
}

/// Named tensors to save as a safetensors file (`safetensors.torch.save_file`). They may be typed or not, on any device with data, and have
/// any strides. (Feature `safetensors`.)
///
/// ```
/// use castiron::{Checkpoint, io::CheckpointWriter, tensor};
/// let (weight, steps) = (tensor![[1.0, 2.0], [3.0, 4.0]], tensor![100]);
/// let bytes = CheckpointWriter::new()
///     .tensor("weight", &weight.t())
///     .tensor("steps", &steps)
///     .metadata("format", "pt")
///     .to_bytes()?;
/// let file = Checkpoint::from_bytes(bytes)?;
/// assert_eq!(file.info("weight").unwrap().to_string(), "float32 [2, 2]");
/// assert_eq!(file.metadata()["format"], "pt");
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Default)]
pub struct CheckpointWriter<'a> {
    tensors: Vec<(String, &'a dyn StoredTensor)>,
    metadata: BTreeMap<String, String>,
    progress: Option<Box<dyn FnMut(Progress<'_>) + 'a>>,
}

impl<'a> CheckpointWriter<'a> {
    /// A writer without tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor.
    pub fn tensor(mut self, name: impl Into<String>, tensor: &'a dyn StoredTensor) -> Self {
        self.tensors.push((name.into(), tensor));
        self
    }

    /// Adds a metadata text.
    pub fn metadata(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), text.into());
        self
    }

    /// Sets a function to call while bytes are written.
    pub fn on_progress(mut self, progress: impl FnMut(Progress<'_>) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Writes the file. It is renamed to its name when it is complete and on disk: if saving fails or is interrupted, an older file is
    /// unchanged, and tensors mapped from it keep their elements.
    ///
    /// # Errors
    /// If a name is used twice, the format lacks the dtype (complex32 and complex128), a tensor has no data (on `meta`), or the file cannot
    /// be written.
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        atomic::write(OP, path, |out| self.write(path, out))
    }

    /// The contents of the file, in memory.
    ///
    /// # Errors
    /// As for [`save`](Self::save); errors name it `memory`.
    pub fn to_bytes(self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(Path::new("memory"), &mut bytes)?;
        Ok(bytes)
    }

    fn write(mut self, path: &Path, out: &mut dyn Write) -> Result<()> {
        let (header, total) = self.header(path)?;
        let wrong = |error: std::io::Error| failed(OP, path, error);
        out.write_all(&(header.len() as u64).to_le_bytes()).map_err(wrong)?;
        out.write_all(&header).map_err(wrong)?;
        let (mut done, progress) = (0, &mut self.progress);
        for (name, tensor) in &self.tensors {
            let dtype = tensor.dtype();
            let written = tensor.with_bytes(&mut |elements| {
                for piece in elements.chunks(bytes::PIECE) {
                    out.write_all(&bytes::to_little_endian(piece, dtype)).map_err(wrong)?;
                    done += piece.len() as u64;
                    if let Some(progress) = progress {
                        progress(Progress { name, done, total });
                    }
                }
                Ok(())
            });
            written.map_err(|error| match error {
                Error::File { .. } => error,
                error => failed(OP, path, format!("tensor `{name}`: {error}")),
            })?;
        }
        Ok(())
    }

    /// The header, and the number of bytes that follow. Sorts the tensors into the file's order.
    fn header(&mut self, path: &Path) -> Result<(Vec<u8>, u64)> {
        let described =
            |(name, tensor): &(String, &dyn StoredTensor)| (name.clone(), tensor.dtype(), tensor.sizes().to_vec());
        let laid_out = layout(path, self.tensors.iter().map(described).collect(), &self.metadata)?;
        let order: BTreeMap<&str, usize> =
            laid_out.starts.iter().enumerate().map(|(at, (name, _))| (&**name, at)).collect();
        self.tensors.sort_by_key(|(name, _)| order[&**name]);
        Ok((laid_out.header, laid_out.bytes))
    }
}

/// Where tensors are in a file: for `castiron-mesh`, whose processes write one file together.
#[doc(hidden)]
pub struct FileLayout {
    /// What follows the length of the header.
    pub header: Vec<u8>,
    /// Where each tensor starts, counted from the end of the header.
    pub starts: Vec<(String, usize)>,
    /// How many bytes follow the header.
    pub bytes: u64,
}

/// The layout of a file of tensors with these names, dtypes and sizes.
#[doc(hidden)]
pub fn layout(
    path: &Path,
    tensors: Vec<(String, DType, Vec<usize>)>,
    metadata: &BTreeMap<String, String>,
) -> Result<FileLayout> {
    let wrong = |name: &str, reason: String| failed(OP, path, format!("tensor `{name}`: {reason}"));
    let mut stored = Vec::with_capacity(tensors.len());
    for (name, dtype, sizes) in tensors {
        let Some(of) = header::stored(dtype) else {
            let reason = format!(
                "the format has no {dtype} (nor complex32 or complex128): save its real and imaginary parts, `view_as_real`"
            );
            return Err(wrong(&name, reason));
        };
        stored.push((of, name, dtype, sizes));
    }
    // Like the format's library: wide elements first, so that all are aligned.
    stored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let (mut rows, mut starts, mut end) = (Vec::new(), Vec::new(), 0_usize);
    for (of, name, dtype, mut sizes) in stored {
        let too_large = || wrong(&name, "the file would be larger than memory can address".to_owned());
        let bytes =
            sizes.iter().try_fold(dtype.itemsize(), |bytes, &size| bytes.checked_mul(size)).ok_or_else(too_large)?;
        let start = end;
        end = end.checked_add(bytes).ok_or_else(too_large)?;
        if of == safetensors::Dtype::F4 {
            // The format counts single numbers, two per element.
            let last = sizes.last_mut().ok_or_else(|| wrong(&name, "the format has no zero-dim F4".to_owned()))?;
            *last *= 2;
        }
        rows.push((name.clone(), Described { dtype: of, shape: sizes, data_offsets: (start, end) }));
        starts.push((name, start));
    }
    let mut names: Vec<&str> = starts.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(wrong(twice[0], "the name is there twice".to_owned()));
    }
    if names.binary_search(&METADATA).is_ok() {
        return Err(wrong(METADATA, "the format keeps this name for itself".to_owned()));
    }
    let mut text = String::from("{");
    if !metadata.is_empty() {
        text += &format!("{}:{},", json(path, METADATA)?, json(path, metadata)?);
    }
    for (name, row) in &rows {
        text += &format!("{}:{},", json(path, name)?, json(path, row)?);
    }
    if text.ends_with(',') {
        text.pop();
    }
    text.push('}');
    let mut header = text.into_bytes();
    header.resize((LENGTH + header.len()).next_multiple_of(ALIGNMENT) - LENGTH, b' ');
    Ok(FileLayout { header, starts, bytes: end as u64 })
}

fn json(path: &Path, of: &(impl serde::Serialize + ?Sized)) -> Result<String> {
    serde_json::to_string(of).map_err(|error| failed(OP, path, error))
}
