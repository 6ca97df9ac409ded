//! Of Fourier transforms what is called at run time alone, and windows: see `composite::fourier`.

pub(crate) mod frames;
pub(crate) mod transforms;
pub(crate) mod windows;

pub(crate) use transforms::length;

rows_of!(frames, transforms, windows);
