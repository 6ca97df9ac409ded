//! A set of dtypes is one of those that generic code names, or a list.
//!
//! Instead: `E: Float`.
use castiron::{AnyTensor, Result, visit};

fn width(x: &AnyTensor) -> Result<usize> {
    visit!(x, E: Floats => size_of::<E>())
}

fn main() {}
