//! The CUDA runtime over a pretend GPU: what is missing is said, memory, transfers, kernels, faults.
//!
//! Each test runs in a process of its own (`pretend::within`), since libraries are loaded once in a process.

mod elementwise;
mod executor;
mod index;
mod kernels;
mod lanes;
mod memory;
mod missing;
mod order;
mod pretend;
mod product;
mod reduce;

/// Runs a block as the test of this name, in a process with the pretend GPU: `on_gpu!("memory::round_trip", { … })`, with
/// environment variables in brackets before the block.
macro_rules! on_gpu {
    ($name:literal, $body:block) => { crate::on_gpu!($name, [], $body) };
    ($name:literal, [$($variable:literal = $value:literal),*], $body:block) => {
        crate::pretend::within($name, crate::pretend::Installed::Both, &[$(($variable, $value)),*], || $body)
    };
}
pub(crate) use on_gpu;
