//! Where a tensor's elements are: offset, sizes and strides. Views as arithmetic, memory formats, one bounds check.
//!
//! Numbers alone: it knows dtypes and shapes, and neither storage nor devices nor tensors. Used by tensors of every kind and by the loops.

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

/// The first element in a storage, and along each axis how many there are and how far apart (`at::TensorGeometry`). In elements.
///
/// Its methods are the rules of views: each fills in the sizes and strides of the view and returns where its first element is. Products
/// wrap: they do where there are no elements, and what comes of it is compared with the storage wherever a tensor is made.
#[derive(Clone, Copy)]
pub(crate) struct Geometry<'a> {
    pub(crate) offset: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
}

/// The sizes and strides of a view, to be filled in: as many of each as the view has axes.
pub(crate) struct ViewAxes<'a> {
    pub(crate) sizes: &'a mut [usize],
    pub(crate) strides: &'a mut [usize],
}
