//! What castiron does, as one program of tests: a module for each subject.

#[cfg(feature = "any")]
mod any;
mod blend;
mod choosing;
mod common;
mod construction;
mod device_values;
mod devices;
mod dtypes;
mod errors;
mod generic;
mod generic_laws;
mod image_example;
mod into_vec;
mod laws;
mod lazy;
mod memory_format;
mod moving;
mod odd;
mod printing;
mod products;
mod reduction_layouts;
mod result_types;
mod rows;
mod shapes;
mod soundness;
mod sparse;
mod sparse_table;
mod strides;
mod sums;
mod values;
mod values_functions;
mod values_reduction;
mod values_scalar;
mod views;
mod views_table;
