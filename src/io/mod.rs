//! Tensors in files: checkpoints (feature `safetensors`), single tensors that are mapped into memory (feature `mmap`), and structs of
//! tensors that are loaded from a checkpoint ([`Module`]).
//!
//! | to | see |
//! |---|---|
//! | open `model.safetensors`, its index of shards, or a folder of them | [`Checkpoint::open`], [`Checkpoint::map`] |
//! | see what is in it | [`Checkpoint::tensors`], [`Checkpoint::names`], [`Checkpoint::metadata`] |
//! | load one tensor | [`Tensor::load`](crate::Tensor::load), `AnyTensor::load` |
//! | load a struct of tensors | [`Module::load`], [`LoadOptions`] |
//! | save | [`Module::save`], [`CheckpointWriter`] |
//!
//! (The table is of the feature `safetensors`.)
//!
//! Uses tensors and their storage; used by programs alone.
#![cfg_attr(not(feature = "safetensors"), allow(rustdoc::broken_intra_doc_links))]

#[cfg(feature = "safetensors")]
mod atomic;
#[cfg(feature = "safetensors")]
mod bytes;
#[cfg(feature = "safetensors")]
mod checkpoint;
mod map;
#[cfg(feature = "safetensors")]
mod module;
#[cfg(feature = "safetensors")]
mod stored;

#[cfg(feature = "safetensors")]
pub use checkpoint::{Checkpoint, CheckpointWriter, Progress, TensorInfo};
#[cfg(feature = "safetensors")]
pub use module::{Difference, Listing, LoadOptions, Module, Parameter, Place, ToDevice};
#[cfg(feature = "safetensors")]
pub use stored::StoredTensor;

use crate::error::Error;
use std::path::Path;

/// The error of a file.
#[cold]
fn failed(op: &'static str, path: &Path, reason: impl ToString) -> Error {
    Error::File { op, path: path.to_owned(), reason: reason.to_string() }
}
