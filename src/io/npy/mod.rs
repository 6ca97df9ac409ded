//! `.npy` files with one array: reading, mapping and writing; `.npz` files with several are in `npz`.

mod header;
mod npz;

pub use npz::{Npz, NpzWriter};

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::io::{StoredTensor, atomic, bytes, failed, map};
use crate::shape::{Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, fits, shape_text};
use header::Header;
use std::io::{BufReader, Read, Write};
use std::path::Path;

/// The source of an array: its name in errors, a reader, and the maximum number of bytes.
struct Source<'a> {
    from: &'a mut dyn Read,
    /// Of the whole file, including the header.
    bytes: u64,
}

impl Source<'_> {
    /// Reads the header; checks that the file can hold the elements.
    fn header(&mut self) -> Result<Header, String> {
        let header = header::read(self.from)?;
        let (numel, bytes) = header.count()?;
        let there = self.bytes.saturating_sub(header.len as u64);
        if bytes as u64 > there {
            let Header { sizes, dtype, .. } = &header;
            return Err(format!("{sizes:?} of {dtype}, {numel} elements, takes {bytes} bytes, and {there} are there"));
        }
        Ok(header)
    }

    /// Reads the elements after the header.
    fn elements<E: Element>(&mut self, header: &Header, wrong: Wrong<'_>) -> Result<HostBuffer> {
        let (numel, _) = header.count().map_err(wrong)?;
        let read = bytes::read::<E>(numel, header.big_endian, self.from, &mut |_| ())?;
        read.map_err(|error| wrong(error.to_string()))
    }

    fn typed<E: Element, S: Shape>(&mut self, wrong: Wrong<'_>) -> Result<Tensor<E, S>> {
        let header = self.header().map_err(wrong)?;
        expect_type::<E, S>(&header).map_err(wrong)?;
        let buffer = self.elements::<E>(&header, wrong)?;
        Ok(Tensor::from_parts(buffer, 0, S::Sizes::copied(&header.sizes), S::Sizes::copied(&header.strides())))
    }

    #[cfg(feature = "any")]
    fn untyped(&mut self, wrong: Wrong<'_>) -> Result<crate::AnyTensor> {
        let header = self.header().map_err(wrong)?;
        let buffer =
            crate::any::dispatch_dtype!("load_npy", header.dtype, E: Element => self.elements::<E>(&header, wrong))?;
        any_over(buffer, 0, &header)
    }
}

/// Makes an error from a reason.
type Wrong<'a> = &'a dyn Fn(String) -> Error;

/// Checks that dtype and sizes match the type.
fn expect_type<E: Element, S: Shape>(header: &Header) -> Result<(), String> {
    let Header { dtype, sizes, .. } = header;
    if *dtype == E::DTYPE && sizes.len() == S::RANK && fits::<S>(sizes) {
        return Ok(());
    }
    Err(format!("expected {} {}", E::DTYPE, shape_text::<S>()) + &format!(", found {dtype} {sizes:?}"))
}

/// A tensor of elements in a buffer, in the header's order.
#[cfg(feature = "any")]
fn any_over(buffer: HostBuffer, offset: usize, header: &Header) -> Result<crate::AnyTensor> {
    let mut sizes = header.sizes.clone();
    if header.fortran_order {
        sizes.reverse();
    }
    let tensor = crate::AnyTensor::row_major_from("load_npy", buffer, offset, header.dtype, &sizes)?;
    let axes: Vec<i64> = (0..sizes.len() as i64).rev().collect();
    if header.fortran_order { tensor.permute(&axes) } else { Ok(tensor) }
}

/// Opens an array's file, and runs a function on it.
fn with_file<T>(path: &Path, run: impl FnOnce(&mut Source<'_>, Wrong<'_>) -> Result<T>) -> Result<T> {
    let (file, bytes) = map::open("load_npy", path)?;
    let mut from = BufReader::new(file);
    run(&mut Source { from: &mut from, bytes }, &|reason| failed("load_npy", path, reason))
}

/// The same for a file in memory.
fn with_bytes<T>(bytes: &[u8], run: impl FnOnce(&mut Source<'_>, Wrong<'_>) -> Result<T>) -> Result<T> {
    let (mut from, len) = (bytes, bytes.len() as u64);
    run(&mut Source { from: &mut from, bytes: len }, &|reason| failed("from_npy", Path::new("memory"), reason))
}

/// Memory-maps an array's file; only the header is read.
///
/// # Safety
/// As for [`map::map`].
unsafe fn map_file(path: &Path) -> Result<(HostBuffer, Header)> {
    let wrong = |reason: String| failed("map_npy", path, reason);
    let (mut file, bytes) = map::open("map_npy", path)?;
    let header = Source { from: &mut file, bytes }.header().map_err(wrong)?;
    let (_, len) = header.count().map_err(wrong)?;
    if header.big_endian != cfg!(target_endian = "big") && header.dtype.itemsize() > 1 {
        return Err(wrong(
            "its numbers are in another order of bytes than the machine's: `load_npy` turns them round".to_owned(),
        ));
    }
    if !header.len.is_multiple_of(header.dtype.itemsize()) {
        return Err(wrong(format!(
            "its elements begin at byte {}, which is not aligned for them: use `load_npy`",
            header.len
        )));
    }
    // SAFETY: the caller's promise.
    let buffer = unsafe { map::map("map_npy", path, &file, header.len + len) }?;
    if header.dtype == DType::Bool {
        let bools = |_| wrong("a bool is a byte of 0 or 1, and there are others".to_owned());
        crate::tensor::expect_bools::<crate::Cpu>("map_npy", &buffer, header.len, &[len], &[1]).map_err(bools)?;
    }
    Ok((buffer, header))
}

/// Writes a tensor as an array.
fn write(name: &str, tensor: &dyn StoredTensor, out: &mut dyn Write, wrong: Wrong<'_>) -> Result<()> {
    let dtype = tensor.dtype();
    let Some(header) = header::write(dtype, tensor.sizes()) else {
        let instead = if dtype.is_complex() { "`.to::<Complex<f32>>()`" } else { "`.to::<f32>()`" };
        return Err(wrong(format!("{name}NumPy has no {dtype}: convert it first, for example by {instead}")));
    };
    let failed = |error: std::io::Error| wrong(format!("{name}{error}"));
    out.write_all(&header).map_err(failed)?;
    tensor.with_bytes(&mut |elements| {
        elements
            .chunks(bytes::PIECE)
            .try_for_each(|piece| out.write_all(&bytes::to_little_endian(piece, dtype)))
            .map_err(failed)
    })
}

fn save(tensor: &dyn StoredTensor, path: &Path) -> Result<()> {
    atomic::write("save_npy", path, |out| write("", tensor, out, &|reason| failed("save_npy", path, reason)))
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// Loads the array of an `.npy` file (`torch.from_numpy(np.load(path))`). An array in Fortran order keeps its strides; big-endian
    /// numbers are converted. (Feature `npy`.)
    ///
    /// # Errors
    /// If there is no such file, it is truncated or not an npy file, its elements are structures, objects or strings, or dtype or sizes
    /// differ from the type's.
    ///
    /// ```
    /// use castiron::{Tensor, shape, tensor};
    /// let path = std::env::temp_dir().join(format!("castiron-{}.npy", std::process::id()));
    /// tensor![[1.0, 2.0], [3.0, 4.0]].save_npy(&path)?;
    /// let x: Tensor<f32, shape![_, 2]> = Tensor::load_npy(&path)?;
    /// assert_eq!(x.to_vec(), [1.0, 2.0, 3.0, 4.0]);
    /// let error = Tensor::<f64, shape![4]>::load_npy(&path).unwrap_err();
    /// assert!(error.to_string().ends_with("expected float64 [4], found float32 [2, 2]"));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Self> {
        with_file(path.as_ref(), |source, wrong| source.typed(wrong))
    }

    /// [`load_npy`](Self::load_npy) for a file in memory; errors name it `memory`.
    ///
    /// # Errors
    /// As for [`load_npy`](Self::load_npy).
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// let file = b"\x93NUMPY\x01\x00\x3c\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }  \n\x07\x08";
    /// assert_eq!(Tensor::<u8, shape![2]>::from_npy(file)?.to_vec(), [7, 8]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_npy(bytes: &[u8]) -> Result<Self> {
        with_bytes(bytes, |source, wrong| source.typed(wrong))
    }

    /// [`load_npy`](Self::load_npy) with the file memory-mapped instead of read (`np.load(path, mmap_mode="c")`). Writes go to memory,
    /// never to the file.
    ///
    /// # Errors
    /// As for [`load_npy`](Self::load_npy), and if the numbers are not in native byte order.
    ///
    /// # Safety
    /// Nobody changes or truncates the file, in this or in another process, while the tensor, a view or a clone of it exists.
    pub unsafe fn map_npy(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // SAFETY: the caller's promise.
        let (buffer, header) = unsafe { map_file(path) }?;
        expect_type::<E, S>(&header).map_err(|reason| failed("map_npy", path, reason))?;
        let (sizes, strides) = (S::Sizes::copied(&header.sizes), S::Sizes::copied(&header.strides()));
        Ok(Tensor::from_parts(buffer, header.len / size_of::<E>(), sizes, strides))
    }
}

impl<E: Element, S: Shape, D: crate::Device> Tensor<E, S, D> {
    /// Saves the tensor as an `.npy` file (`np.save(path, x.numpy())`), in row-major order. An older file is replaced when the new one is
    /// on disk. (Feature `npy`.)
    ///
    /// # Errors
    /// If NumPy lacks the dtype (bfloat16, complex32, the float8 formats and float4), there are no data (on `meta`), or the file cannot be
    /// written.
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        save(self, path.as_ref())
    }
}

#[cfg(feature = "any")]
impl crate::AnyTensor {
    /// Loads the array of an `.npy` file, of any dtype and sizes: see [`Tensor::load_npy`]. (Feature `npy`.)
    ///
    /// # Errors
    /// As for [`Tensor::load_npy`], and if there are more than eight axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let path = std::env::temp_dir().join(format!("castiron-any-{}.npy", std::process::id()));
    /// AnyTensor::from(tensor![[1, 2], [3, 4]]).t()?.save_npy(&path)?;
    /// assert_eq!(AnyTensor::load_npy(&path)?.to_string(), "tensor([[1, 3],\n        [2, 4]])");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Self> {
        with_file(path.as_ref(), |source, wrong| source.untyped(wrong))
    }

    /// [`load_npy`](Self::load_npy) for a file in memory: see [`Tensor::from_npy`].
    ///
    /// # Errors
    /// As for [`load_npy`](Self::load_npy).
    pub fn from_npy(bytes: &[u8]) -> Result<Self> {
        with_bytes(bytes, |source, wrong| source.untyped(wrong))
    }

    /// [`load_npy`](Self::load_npy) with the file memory-mapped: see [`Tensor::map_npy`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn map_npy(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's promise.
        let (buffer, header) = unsafe { map_file(path.as_ref()) }?;
        any_over(buffer, header.len / header.dtype.itemsize(), &header)
    }

    /// Saves the tensor as an `.npy` file: see [`Tensor::save_npy`]. (Feature `npy`.)
    ///
    /// # Errors
    /// As there.
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        save(self, path.as_ref())
    }
}
