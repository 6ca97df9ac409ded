//! Tensors in files: checkpoints and structs of tensors that are loaded from them ([`Module`]; feature `safetensors`), NumPy's files
//! (feature `npy`), and single tensors that are mapped into memory (feature `mmap`).
//!
//! | to | see |
//! |---|---|
//! | open `model.safetensors`, its index of shards, or a folder of them | [`Checkpoint::open`], [`Checkpoint::map`] |
//! | see what is in it | [`Checkpoint::tensors`], [`Checkpoint::names`], [`Checkpoint::metadata`] |
//! | load one tensor | [`Tensor::load`](crate::Tensor::load), `AnyTensor::load` |
//! | load a struct of tensors | [`Module::load`], [`LoadOptions`] |
//! | save | [`Module::save`], [`CheckpointWriter`] |
//! | read and write files of NumPy | [`Tensor::load_npy`](crate::Tensor::load_npy), [`Tensor::save_npy`](crate::Tensor::save_npy), [`Npz`], [`NpzWriter`] |
//!
//! Uses tensors and their storage; used by programs alone.
#![cfg_attr(not(all(feature = "safetensors", feature = "npy")), allow(rustdoc::broken_intra_doc_links))]

#[cfg(any(feature = "safetensors", feature = "npy"))]
mod atomic;
#[cfg(any(feature = "safetensors", feature = "npy"))]
mod bytes;
#[cfg(feature = "safetensors")]
mod checkpoint;
mod map;
#[cfg(feature = "safetensors")]
mod module;
#[cfg(feature = "npy")]
mod npy;
#[cfg(any(feature = "safetensors", feature = "npy"))]
mod stored;

#[cfg(feature = "safetensors")]
pub use checkpoint::{Checkpoint, CheckpointWriter, Progress, TensorInfo};
#[cfg(feature = "safetensors")]
pub use module::{Difference, Listing, LoadOptions, Module, Parameter, Place, ToDevice};
#[cfg(feature = "npy")]
pub use npy::{Npz, NpzWriter};
#[cfg(any(feature = "safetensors", feature = "npy"))]
pub use stored::StoredTensor;

use crate::error::Error;
use std::path::Path;

/// The error of a file.
#[cold]
fn failed(op: &'static str, path: &Path, reason: impl ToString) -> Error {
    Error::File { op, path: path.to_owned(), reason: reason.to_string() }
}
