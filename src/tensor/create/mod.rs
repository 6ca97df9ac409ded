//! Constructors of tensors: filled, from elements, ranges, random, with the shape of another.

// Documentation lists methods in this order.
pub(crate) mod constructors;

pub(crate) mod distributions;
pub(crate) mod dropout;
pub(crate) mod like;
pub(crate) mod random;
pub(crate) mod ranges;
pub(crate) mod sampling;
pub(crate) mod triangle_indices;
pub(crate) mod weights;
