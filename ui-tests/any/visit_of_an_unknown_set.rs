//! A set of dtypes is one of those that generic code names, or a list.
//!
//! Instead: `E: Float`.
//!
//! names: set of dtypes
//! says: Float

use castiron::{AnyTensor, Result, visit};

fn width(x: &AnyTensor) -> Result<usize> {
    visit!(x, E: Floats => size_of::<E>())
    // instead: visit!(x, E: Float => size_of::<E>())
}

fn main() {}
