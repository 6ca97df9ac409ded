//! The CUDA runtime over a pretend GPU: errors for missing libraries, memory, transfers, kernels, faults.
//!
//! Each test runs in its own process (`pretend::within`), since libraries are loaded once per process. With `CASTIRON_TEST_GPU=1` the tests
//! that compare a GPU with the host run on a real one, and the others are skipped.

/// Tests of the functions of `tests/suite/each_device` that have these names, on a GPU.
macro_rules! each_device {
    (also_without_data: $($plan:ident),* $(,)?; with_data: $($test:ident),* $(,)?;) => {
        mod on_gpu {
            $( #[test] fn $plan() { crate::on_gpu_named!($plan, super::$plan::<castiron::Cuda<0>>()); } )*
            $( #[test] fn $test() { crate::on_gpu_named!($test, super::$test::<castiron::Cuda<0>>()); } )*
        }
    };
}

mod any;
mod ceilings;
mod cublas;
#[cfg(feature = "cudarc")]
mod cudarc;
mod elementwise;
mod executor;
mod float8;
#[cfg(feature = "grad")]
mod gradients;
mod graphs;
mod index;
mod kernels;
mod lanes;
mod large;
mod lists;
mod memory;
mod missing;
mod mistakes;
mod operations;
mod order;
mod own_kernels;
mod pretend;
mod product;
#[cfg(feature = "profile")]
mod profile;
mod programs;
mod random;
mod reduce;
mod staging;

#[path = "../suite/each_device/mod.rs"]
mod each_device;

// The readers of PyTorch's tables.
#[allow(dead_code)]
#[path = "../../examples/conformance/src/codes.rs"]
mod codes;
#[cfg(feature = "grad")]
#[allow(dead_code)]
#[path = "../../examples/conformance/src/gradients.rs"]
mod grad_samples;
#[path = "../../examples/conformance/src/json.rs"]
mod json;
#[cfg(feature = "grad")]
#[allow(dead_code)]
#[path = "../../examples/conformance/src/report.rs"]
mod report;
#[allow(dead_code, unused_imports)]
#[path = "../../examples/conformance/src/tokens.rs"]
mod tokens;

/// Elements to compare as text. Of many there are the first ones and a hash of all, which is written in a hundredth of the time; every NaN
/// is the same, as in text.
pub(crate) fn listed<E: castiron::Element>(elements: &[E]) -> String {
    const FEW: usize = 64;
    if elements.len() <= FEW {
        return format!("{elements:?}");
    }
    let bits = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let hash = elements.iter().fold(0_u64, |hash, element| {
        let [low, high] = match element.to_scalar() {
            castiron::ScalarValue::Bool(x) => [x.into(), 0],
            castiron::ScalarValue::Int(x) => [x as u64, (x >> 64) as u64],
            castiron::ScalarValue::Float(x) => [bits(x), 0],
            castiron::ScalarValue::Complex(x) => [bits(x.re), bits(x.im)],
            other => panic!("{other:?}"),
        };
        (hash ^ low).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ high
    });
    format!("{:?} and others, {} in all: {hash:016x}", &elements[..FEW], elements.len())
}

/// Runs a block as the test of this name, in a process with the pretend GPU: `on_gpu!("memory::round_trip", { … })`. With
/// `CASTIRON_TEST_GPU=1` in a process with the GPU of this machine. Environment variables stand in brackets before the block.
macro_rules! on_gpu {
    ($name:literal, $body:block) => { crate::on_gpu!($name, [], $body) };
    ($name:literal, [$($variable:literal = $value:literal),*], $body:block) => {
        crate::pretend::on_any_gpu($name, &[$(($variable, $value)),*], || $body)
    };
}
pub(crate) use on_gpu;

/// As `on_gpu`, in a module whose path names the test: `on_gpu_named!(round_trip, …)`.
macro_rules! on_gpu_named {
    ($name:ident, $body:expr) => {
        crate::pretend::on_any_gpu(
            concat!(module_path!(), "::", stringify!($name)).split_once("::").unwrap().1,
            &[],
            || $body,
        )
    };
}
pub(crate) use on_gpu_named;

/// As `on_gpu`, for what counts calls or makes them fail, so always with the pretend GPU.
macro_rules! on_pretend {
    ($name:literal, $body:block) => { crate::on_pretend!($name, [], $body) };
    ($name:literal, [$($variable:literal = $value:literal),*], $body:block) => {
        crate::pretend::within($name, crate::pretend::Installed::All, &[$(($variable, $value)),*], || $body)
    };
}
pub(crate) use on_pretend;
