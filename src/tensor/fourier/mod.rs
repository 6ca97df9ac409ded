//! Fourier transforms that only typed tensors have, and windows: see `composite::fourier`.

mod order;
mod shapes;
mod sized;
mod windows;

#[cfg(feature = "any")]
pub(crate) use order::frequencies;
pub use shapes::{AsManyAxes, FramesOf, Frequencies, SameDtypeAsWindow, Samples, Weights};
pub use windows::Window;
