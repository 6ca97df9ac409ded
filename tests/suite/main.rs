//! The tests of castiron, as one program with a module for each subject.

/// Tests of the functions of `each_device` that have these names, here on the host; those whose results have shapes without elements, on
/// `Meta` too. (`tests/cuda` has one of this name.)
macro_rules! each_device {
    (also_without_data: $($plan:ident),* $(,)?; with_data: $($test:ident),* $(,)?;) => {
        mod on_cpu {
            $( #[test] fn $plan() { super::$plan::<castiron::Cpu>(); } )*
            $( #[test] fn $test() { super::$test::<castiron::Cpu>(); } )*
        }
        mod on_meta {
            $( #[test] fn $plan() { super::$plan::<castiron::Meta>(); } )*
        }
    };
}

mod accuracy;
#[cfg(feature = "any")]
mod any;
#[cfg(feature = "grad")]
mod attended;
mod blend;
#[cfg(feature = "safetensors")]
mod checkpoints;
mod choosing;
mod closures;
mod common;
mod construction;
mod counted;
#[cfg(feature = "grad")]
mod data;
#[cfg(all(feature = "any", feature = "linalg", feature = "fft"))]
mod decomposed;
mod device_values;
mod devices;
mod drawn;
mod dtypes;
mod each_device;
mod einsum;
mod errors;
#[cfg(feature = "linalg")]
mod factored;
#[cfg(feature = "mmap")]
mod files;
#[cfg(feature = "grad")]
mod gradients;
#[cfg(all(feature = "any", feature = "safetensors", feature = "npy", feature = "serde"))]
mod hostile;
mod image_example;
mod into_vec;
mod laws;
mod lazy;
mod left_over;
mod losses;
mod memory_format;
#[cfg(feature = "safetensors")]
mod modules;
mod moving;
mod neighbours;
mod networks;
#[cfg(feature = "safetensors")]
mod networks_examples;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "grad")]
mod optim;
mod printing;
mod products;
#[cfg(feature = "profile")]
mod profile;
mod resampling;
mod result_types;
mod rows;
mod shapes;
mod small;
mod soundness;
mod sparse;
mod sparse_table;
mod strides;
mod sums;
#[cfg(feature = "grad")]
mod trained;
#[cfg(feature = "fft")]
mod transformed;
mod values;
mod values_functions;
mod values_reduction;
mod values_scalar;
mod views;
mod views_table;
