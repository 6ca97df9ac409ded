//! Files mapped into memory: their pages are read when their elements are first used, so a tensor may be larger than the memory.
//!
//! Source: `torch.from_file` with `shared=False`.

use crate::dtype::{DType, Element};
use crate::error::{Result, Sizes};
use crate::io::failed;
use crate::shape::Shape;
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, checked_numel, expect_bools, expect_fit};
use crate::{Cpu, Device};
use core::ptr::NonNull;
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::path::Path;

const OP: &str = "from_file";

/// Opens an existing file, and returns its length in bytes.
pub(super) fn open(op: &'static str, path: &Path) -> Result<(File, u64)> {
    let (file, metadata) = crate::file::open(path).map_err(|error| failed(op, path, error))?;
    Ok((file, metadata.len()))
}

/// Maps the first `bytes` bytes of a file that is at least that long. Written pages are copied first: the file never changes.
///
/// # Safety
/// Nobody changes or truncates the file while the buffer exists.
pub(super) unsafe fn map(op: &'static str, path: &Path, file: &File, bytes: usize) -> Result<HostBuffer> {
    if bytes == 0 {
        return HostBuffer::zeroed::<u8>(0);
    }
    // SAFETY: the caller's promise about the file. Only written pages take memory, so no swap space is reserved.
    let map = unsafe { MmapOptions::new().len(bytes).no_reserve_swap().map_copy(file) };
    let mut map: MmapMut = map.map_err(|error| failed(op, path, error))?;
    let start = NonNull::new(map.as_mut_ptr()).ok_or_else(|| failed(op, path, "it was mapped to nothing"))?;
    // SAFETY: the bytes stay in place while the map exists, even if it is moved. They are private to this mapping: writes go to copies of
    // its pages, and the caller promises that the file does not change.
    Ok(unsafe { HostBuffer::foreign(map, start, bytes) })
}

/// Maps the elements at the beginning of a file.
///
/// # Safety
/// As for [`map`].
unsafe fn map_elements(path: &Path, bytes: usize, sizes: &[usize], dtype: DType) -> Result<HostBuffer> {
    let (file, found) = open(OP, path)?;
    if found < bytes as u64 {
        let sizes = Sizes::from(sizes);
        return Err(failed(OP, path, format!("{sizes} of {dtype} takes {bytes} bytes, the file has {found}")));
    }
    // SAFETY: the caller's promise.
    unsafe { map(OP, path, &file, bytes) }
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// The elements at the beginning of a file, row-major and in native byte order, memory-mapped: pages are read when first used
    /// (`torch.from_file` with `shared=False`).
    ///
    /// The tensor is like any other: it can be shared, viewed and written. Writes go to memory, never to the file. The file may be larger
    /// than the memory. (Feature `mmap`.)
    ///
    /// # Errors
    /// If there is no such file, it cannot be mapped, or is too short for the sizes; if a size differs from the type's; for `bool`, whose
    /// bytes are all read, if one is neither 0 nor 1.
    ///
    /// # Safety
    /// Nobody changes or truncates the file, in this or in another process, while the tensor, a view or a clone of it exists.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// let path = std::env::temp_dir().join(format!("castiron-{}", std::process::id()));
    /// std::fs::write(&path, [1_i16, 2, 3, 4, 5, 6].map(i16::to_ne_bytes).concat())?;
    /// // SAFETY: the file is this program's, and left alone.
    /// let mut x: Tensor<i16, shape![_, 3]> = unsafe { Tensor::from_file(&path, [2, 3]) }?;
    /// x *= 2;
    /// assert_eq!(x.to_vec(), [2, 4, 6, 8, 10, 12]);
    /// drop(x);
    /// assert_eq!(std::fs::read(&path)?[..2], 1_i16.to_ne_bytes());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn from_file(path: impl AsRef<Path>, sizes: S::Sizes) -> Result<Self> {
        expect_fit::<S>(OP, sizes.as_ref())?;
        let bytes = checked_numel::<E>(OP, sizes.as_ref())? * size_of::<E>();
        // SAFETY: the caller's promise.
        let storage = unsafe { map_elements(path.as_ref(), bytes, sizes.as_ref(), E::DTYPE) }?;
        expect_elements::<Cpu>(E::DTYPE, &storage, bytes)?;
        Ok(Self::dense(storage, sizes))
    }
}

/// Checks `bool` elements; every byte is valid for other dtypes.
fn expect_elements<D: Device>(dtype: DType, storage: &D::Storage, bytes: usize) -> Result<()> {
    if dtype == DType::Bool { expect_bools::<D>(OP, storage, 0, &[bytes], &[1]) } else { Ok(()) }
}

#[cfg(feature = "any")]
impl crate::AnyTensor {
    /// The elements at the beginning of a file, memory-mapped (`torch.from_file` with `shared=False`): see [`Tensor::from_file`]. (Feature
    /// `mmap`.)
    ///
    /// # Errors
    /// If there is no such file, it cannot be mapped, or is too short for the sizes; for `bool`, whose bytes are all read, if one is
    /// neither 0 nor 1.
    ///
    /// # Safety
    /// Nobody changes or truncates the file, in this or in another process, while the tensor, a view or a clone of it exists.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let path = std::env::temp_dir().join(format!("castiron-any-{}", std::process::id()));
    /// std::fs::write(&path, [1.5_f32, -2.0].map(f32::to_ne_bytes).concat())?;
    /// // SAFETY: the file is this program's, and left alone.
    /// let x = unsafe { AnyTensor::from_file(&path, &[2], DType::F32) }?;
    /// assert_eq!(x.to_string(), "tensor([ 1.5000, -2.0000])");
    /// # drop(x);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn from_file(path: impl AsRef<Path>, sizes: &[usize], dtype: DType) -> Result<Self> {
        use crate::device::{Dynamic, DynamicBuffer};
        let bytes = crate::any::checked_numel(OP, sizes, dtype)? * dtype.itemsize();
        // SAFETY: the caller's promise.
        let storage = DynamicBuffer::Cpu(unsafe { map_elements(path.as_ref(), bytes, sizes, dtype) }?);
        expect_elements::<Dynamic>(dtype, &storage, bytes)?;
        Self::row_major(OP, storage, dtype, sizes)
    }
}
