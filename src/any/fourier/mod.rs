//! Fourier transforms that are only called at run time, and windows: see `composite::fourier`.

pub(crate) mod frames;
pub(crate) mod transforms;
pub(crate) mod windows;

pub(crate) use transforms::length;

rows_of!(frames, transforms, windows);
