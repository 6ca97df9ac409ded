//! Tensors in files: checkpoints and structs of tensors loaded from them ([`Module`]; feature `safetensors`), NumPy's files (feature
//! `npy`), and memory-mapped tensors (feature `mmap`). Also exchange with other crates and libraries.
//!
//! | to | see |
//! |---|---|
//! | open `model.safetensors`, its index of shards, or a folder of them | [`Checkpoint::open`], [`Checkpoint::map`] |
//! | see what is in it | [`Checkpoint::tensors`], [`Checkpoint::names`], [`Checkpoint::metadata`] |
//! | load one tensor | [`Tensor::load`](crate::Tensor::load), `AnyTensor::load` |
//! | load a struct of tensors | [`Module::load`], [`LoadOptions`] |
//! | save | [`Module::save`], [`CheckpointWriter`] |
//! | read and write files of NumPy | [`Tensor::load_npy`](crate::Tensor::load_npy), [`Tensor::save_npy`](crate::Tensor::save_npy), [`Npz`], [`NpzWriter`] |
//! | serialize tensors | the feature `serde` |
//! | see an array of `ndarray` as a tensor, and the other way round | `TensorView::from_ndarray`, `Tensor::as_ndarray`, `from_ndarray`, `into_ndarray` |
//! | see a matrix of `nalgebra` or `faer` as a tensor, and the other way round | `io::nalgebra`, `io::faer` |
//! | take columns and record batches of Arrow, and give them | `io::arrow` |
//! | show tensors in notebooks of evcxr | `io::evcxr` |
//! | make a tensor of an image, and the other way round | `Tensor::from_image`, `from_rgb`, `into_image` |
//! | see plain structs as elements | `TensorView::from_pod`, `Tensor::as_pod` |
//! | take a tensor of another library in the process, and give it one | `DlPack` |
//! | take the elements as a vector, without a copy if they came from one | [`Tensor::into_vec`](crate::Tensor::into_vec) |
//!
//! # candle
//!
//! Tensors of `candle` have memory that only candle reads, so elements are copied on the way to it; on the way back castiron takes over the
//! vector that candle gives. Both are in row-major order. (Of `bf16` and `f16` the elements are types of the crate `half` in both.)
//!
//! ```text
//! let there = candle_core::Tensor::from_slice(x.contiguous().as_slice().unwrap(), &x.shape(), &candle_core::Device::Cpu)?;
//! let elements = there.flatten_all()?.to_vec1::<f32>()?;
//! let back: Tensor<f32, shape![_, 384]> = Tensor::try_from_vec_sized(elements, [there.dim(0)?, there.dim(1)?])?;
//! ```
#![cfg_attr(not(all(feature = "safetensors", feature = "npy")), allow(rustdoc::broken_intra_doc_links))]

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(any(feature = "safetensors", feature = "npy"))]
mod atomic;
#[cfg(feature = "bytemuck")]
mod bytemuck;
#[cfg(any(feature = "safetensors", feature = "npy", feature = "serde"))]
mod bytes;
#[cfg(feature = "safetensors")]
mod checkpoint;
#[cfg(feature = "dlpack")]
mod dlpack;
#[cfg(feature = "evcxr")]
pub mod evcxr;
#[cfg(feature = "faer")]
pub mod faer;
#[cfg(feature = "image")]
mod image;
#[cfg(feature = "mmap")]
mod map;
#[cfg(any(feature = "nalgebra", feature = "faer"))]
mod matrix;
#[cfg(feature = "safetensors")]
mod module;
#[cfg(feature = "nalgebra")]
pub mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "serde")]
mod serde;
#[cfg(any(feature = "safetensors", feature = "npy", feature = "serde"))]
mod stored;

#[cfg(feature = "safetensors")]
pub use checkpoint::{Checkpoint, CheckpointWriter, Progress, TensorInfo};
#[cfg(feature = "safetensors")]
#[doc(hidden)]
pub use checkpoint::{FileLayout, layout};
#[cfg(feature = "dlpack")]
pub use dlpack::DlPack;
#[cfg(feature = "image")]
pub use image::ImageShape;
#[cfg(any(feature = "nalgebra", feature = "faer"))]
pub use matrix::MatrixShape;
#[cfg(feature = "safetensors")]
pub use module::{Difference, Listing, LoadOptions, Module, Parameter, Place, ToDevice};
#[cfg(feature = "safetensors")]
#[doc(hidden)]
pub use module::{FieldOf, MapTensors, Mixed, Walk, moved};
#[cfg(feature = "grad")]
#[doc(hidden)]
pub use module::{ListingMut, ParameterMut};
#[cfg(feature = "grad")]
pub(crate) use module::{StoredNumber, list_number, numbers_module};
#[cfg(feature = "ndarray")]
pub use ndarray::ArraySizes;
#[cfg(feature = "npy")]
pub use npy::{Npz, NpzWriter};
#[cfg(any(feature = "safetensors", feature = "npy", feature = "serde"))]
pub use stored::StoredTensor;

/// The error of a file operation.
#[cfg(feature = "mmap")]
#[cold]
fn failed(op: &'static str, path: &std::path::Path, reason: impl ToString) -> crate::Error {
    crate::Error::File { op, path: path.to_owned(), reason: reason.to_string() }
}
