//! Tensors made from nothing: filled, from elements, ranges, random, in the shape of another.

// The documentation lists methods in this order.
pub(crate) mod constructors;

pub(crate) mod distributions;
pub(crate) mod dropout;
pub(crate) mod like;
pub(crate) mod random;
pub(crate) mod ranges;
pub(crate) mod sampling;
pub(crate) mod triangle_indices;
#[cfg(feature = "cuda")]
pub(crate) mod weights;
