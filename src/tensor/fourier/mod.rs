//! Fourier transforms along axes, of windowed frames, and windows.
//! `erased` and `frames` hold each over views, which the typed methods beside them and `any` call.

pub(crate) mod erased;
pub(crate) mod frames;
mod half;
mod overlapping;
mod transforms;
mod windows;

#[cfg(feature = "any")]
pub(crate) use erased::{Along, Direction, Step, Transformed};
pub use erased::{Norm, RealSignal, Spectral, Wave};
pub use frames::{Beyond, Frames};
pub use half::{AsManyAxes, Frequencies, Samples};
pub use overlapping::{FramesOf, SameDtypeAsWindow, Weights};
pub use windows::Window;
