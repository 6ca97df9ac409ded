//! Fourier transforms, of axes and of overlapping frames. Lanes are transformed in `cpu/fourier.rs`.

pub(crate) mod axes;
pub(crate) mod axis;
pub(crate) mod frames;
pub(crate) mod lanes;
pub(crate) mod order;
pub(crate) mod signal;

rows_of!(axes, axis, frames, order);
