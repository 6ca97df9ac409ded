//! Fourier transforms and windows at run time.
//! Uses `tensor::fourier`.

pub(crate) mod frames;
pub(crate) mod transforms;
pub(crate) mod windows;

rows_of!(frames, transforms, windows);
