//! Loading one tensor of a checkpoint, typed or not, from memory without a copy or from the file.

use super::{Checkpoint, DataFile, Source, TensorInfo};
use crate::device::Cpu;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::io::{bytes, failed};
use crate::shape::{Dyn, Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, expect_bools, fits, shape_text};
use core::ops::Range;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

const OP: &str = "load";

/// Reads a file from an offset on. It is locked per piece, not in between, where `count` calls user functions: one that loads from the same
/// checkpoint would deadlock.
struct FileFrom<'a> {
    file: &'a Mutex<File>,
    at: u64,
}

impl Read for FileFrom<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let bytes = file.read(to)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}

impl Checkpoint {
    /// The tensor with this name, or the error that there is none.
    fn find(&self, name: &str) -> Result<&TensorInfo> {
        self.tensors.get(name).ok_or_else(|| {
            // Suggests names with the same ending, the most common mistake.
            let last = name.rsplit('.').next().unwrap_or(name);
            let mut like: Vec<&str> =
                self.names().filter(|other| other.rsplit('.').next() == Some(last)).take(3).collect();
            if like.is_empty() {
                like = self.names().take(3).collect();
            }
            let like = like.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let count = self.len();
            failed(OP, &self.path, format!("there is no tensor `{name}` among its {count}, which are such as {like}"))
        })
    }

    /// The error for a tensor.
    #[cold]
    fn wrong(&self, name: &str, info: &TensorInfo, reason: impl ToString) -> Error {
        failed(OP, &self.files[info.file].path, format!("tensor `{name}`: {}", reason.to_string()))
    }

    /// A tensor's elements: a buffer and the index of the first element in it. `count` is called with the bytes of each piece that is read.
    pub(in crate::io) fn elements<E: Element>(
        &self,
        name: &str,
        info: &TensorInfo,
        count: &mut dyn FnMut(usize),
    ) -> Result<(HostBuffer, usize)> {
        let (DataFile { source, .. }, len) = (&self.files[info.file], info.bytes / size_of::<E>());
        let wrong = |error: std::io::Error| self.wrong(name, info, error);
        if len == 0 {
            return Ok((HostBuffer::zeroed::<E>(0)?, 0));
        }
        let buffer = match source {
            Source::File(file) => {
                let mut from = FileFrom { file, at: info.start };
                return Ok((bytes::read::<E>(len, false, &mut from, count)?.map_err(wrong)?, 0));
            }
            Source::Memory(buffer) => buffer,
        };
        // (Opening the file checked that the bytes exist.)
        let at = info.start as usize;
        let place = buffer.start::<u8>().wrapping_add(at);
        let is_aligned = at.is_multiple_of(size_of::<E>()) && place.cast::<E>().is_aligned();
        if !is_aligned || cfg!(target_endian = "big") {
            let mut from = buffer.bytes(at, info.bytes).unwrap_or_default();
            return Ok((bytes::read::<E>(len, false, &mut from, count)?.map_err(wrong)?, 0));
        }
        if E::DTYPE == DType::Bool {
            expect_bools::<Cpu>(OP, buffer, at, &[len], &[1])
                .map_err(|_| self.wrong(name, info, "a bool is a byte of 0 or 1, and there are others"))?;
        }
        count(info.bytes);
        let shared = buffer.shared().unwrap_or_else(|| unreachable!("the buffer owns its memory"));
        Ok((shared, at / size_of::<E>()))
    }

    /// The elements of some rows of a tensor, which has elements of this type.
    pub(in crate::io) fn rows<E: Element>(
        &self,
        name: &str,
        info: &TensorInfo,
        rows: Range<usize>,
        count: &mut dyn FnMut(usize),
    ) -> Result<Tensor<E, (Dyn,)>> {
        let all = info.sizes.first().copied().unwrap_or(1);
        if rows.start > rows.end || rows.end > all {
            return Err(self.wrong(name, info, format!("there are no rows {rows:?} among {all}")));
        }
        let each = info.bytes.checked_div(all).unwrap_or(0);
        let part =
            TensorInfo { start: info.start + (rows.start * each) as u64, bytes: rows.len() * each, ..info.clone() };
        let (buffer, offset) = self.elements::<E>(name, &part, count)?;
        Ok(Tensor::from_parts(buffer, offset, [part.bytes / size_of::<E>()], [1]))
    }

    /// Whether a tensor has the type's dtype and sizes.
    pub(in crate::io) fn fits<E: Element, S: Shape>(&self, info: &TensorInfo) -> bool {
        info.sizes.len() == S::RANK && fits::<S>(&info.sizes) && info.dtype == Ok(E::DTYPE)
    }

    /// A tensor of the type, or an error with the expected and the found type.
    pub(in crate::io) fn typed<E: Element, S: Shape>(
        &self,
        name: &str,
        info: &TensorInfo,
        count: &mut dyn FnMut(usize),
    ) -> Result<Result<Tensor<E, S>, (String, String)>> {
        if !self.fits::<E, S>(info) {
            return Ok(Err((expected::<E, S>(), info.to_string())));
        }
        let sizes = S::Sizes::copied(&info.sizes);
        let (buffer, offset) = self.elements::<E>(name, info, count)?;
        Ok(Ok(Tensor::from_parts(buffer, offset, sizes, crate::layout::strides::contiguous(&sizes))))
    }

    /// Whether two tensors have the same dtype, sizes and elements.
    pub(in crate::io) fn are_equal(&self, names: [&str; 2]) -> Result<bool> {
        let [a, b] = names.map(|name| self.tensors.get(name).map(|info| (name, info)));
        let (Some((name, a)), Some((other, b))) = (a, b) else { return Ok(false) };
        if (&a.dtype, &a.sizes) != (&b.dtype, &b.sizes) {
            return Ok(false);
        }
        let [one, two] = [(name, a), (other, b)].map(|(name, info)| {
            // (Compared as bytes.)
            let (buffer, offset) = self.elements::<u8>(name, info, &mut |_| ())?;
            Ok::<_, Error>((buffer, offset))
        });
        let (one, two) = (one?, two?);
        Ok(one.0.bytes(one.1, a.bytes) == two.0.bytes(two.1, b.bytes))
    }
}

/// `float32 [_, 384]`
pub(in crate::io) fn expected<E: Element, S: Shape>() -> String {
    format!("{} {}", E::DTYPE, shape_text::<S>())
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// Loads a tensor with this dtype and these sizes (`safetensors.safe_open(…).get_tensor(name)`). From a [mapped](Checkpoint::map)
    /// checkpoint it shares the memory, if that is aligned, and reads nothing. (Feature `safetensors`.)
    ///
    /// # Errors
    /// If there is no tensor of this name, its dtype or shape differs from the type's, or it cannot be read.
    ///
    /// ```
    /// use castiron::{Checkpoint, Tensor, io::CheckpointWriter, shape, tensor};
    /// let file = Checkpoint::from_bytes(CheckpointWriter::new().tensor("w", &tensor![[1, 2, 3]]).to_bytes()?)?;
    /// let w = Tensor::<i64, shape![_, 3]>::load(&file, "w")?;
    /// assert_eq!(w.to_vec(), [1, 2, 3]);
    /// let error = Tensor::<f32, shape![3]>::load(&file, "w").unwrap_err();
    /// assert_eq!(error.to_string(), "load: memory: tensor `w`: expected float32 [3], found int64 [1, 3]");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn load(checkpoint: &Checkpoint, name: &str) -> Result<Self> {
        let info = checkpoint.find(name)?;
        checkpoint.typed(name, info, &mut |_| ())?.map_err(|(expected, found)| {
            checkpoint.wrong(name, info, format!("expected {expected}") + &format!(", found {found}"))
        })
    }
}

#[cfg(feature = "any")]
impl crate::AnyTensor {
    /// Loads a tensor of any dtype and sizes: see [`Tensor::load`]. (Feature `safetensors`.)
    ///
    /// # Errors
    /// If there is no tensor of this name, castiron has no such dtype, there are more than eight axes, or it cannot be read.
    ///
    /// ```
    /// use castiron::{AnyTensor, Checkpoint, io::CheckpointWriter, tensor};
    /// let file = Checkpoint::from_bytes(CheckpointWriter::new().tensor("w", &tensor![[1, 2, 3]]).to_bytes()?)?;
    /// assert_eq!(AnyTensor::load(&file, "w")?.to_string(), "tensor([[1, 2, 3]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn load(checkpoint: &Checkpoint, name: &str) -> Result<Self> {
        let info = checkpoint.find(name)?;
        checkpoint.untyped(name, info, &mut |_| ())
    }
}

#[cfg(feature = "any")]
impl Checkpoint {
    /// A tensor of any dtype and sizes.
    pub(in crate::io) fn untyped(
        &self,
        name: &str,
        info: &TensorInfo,
        count: &mut dyn FnMut(usize),
    ) -> Result<crate::AnyTensor> {
        let dtype = info.dtype.map_err(|dtype| self.wrong(name, info, format!("castiron has no dtype {dtype}")))?;
        if info.sizes.len() > crate::any::MOST_AXES {
            return Err(self.wrong(
                name,
                info,
                format!("{} axes are more than the {} that tensors have", info.sizes.len(), crate::any::MOST_AXES),
            ));
        }
        let (buffer, offset) =
            crate::any::dispatch_dtype!(OP, dtype, E: Element => self.elements::<E>(name, info, count))?;
        crate::AnyTensor::row_major_from(OP, buffer, offset, dtype, &info.sizes)
    }
}
