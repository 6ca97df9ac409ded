//! A tensor's element layout: offset, sizes and strides. Views as arithmetic, memory formats, one bounds check.
//!
//! Depends on dtypes and shapes, not on storage, devices or tensors.

pub mod bounds;
pub(crate) mod dims;
pub mod memory_format;
pub(crate) mod parts;
pub(crate) mod positions;
mod reinterpret;
pub mod strides;
#[cfg(test)]
mod tests;
mod views;

pub use memory_format::MemoryFormat;
pub(crate) use views::{exchanged, write_moved};

/// Offset of the first element in the storage, sizes and strides, in elements (`at::TensorGeometry`).
///
/// Its methods are the rules of views: each fills in the sizes and strides of the view and returns its offset. Products may wrap, which
/// happens only for empty tensors; the result is checked against the storage wherever a tensor is made.
#[derive(Clone, Copy)]
pub(crate) struct Geometry<'a> {
    pub(crate) offset: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
}

/// The sizes and strides of a view, to be filled in; their length is the view's rank.
pub(crate) struct ViewAxes<'a> {
    pub(crate) sizes: &'a mut [usize],
    pub(crate) strides: &'a mut [usize],
}
