//! `visit!` takes a tensor, a name and a set of dtypes, and the code.
//!
//! Instead: `E: Float => …`.
//!
//! names: visit! | =>
//! says: =>

use castiron::{AnyTensor, Result, tensor, visit};

fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let width = visit!(x, E: Float, size_of::<E>())?;
    // instead: let width = visit!(x, E: Float => size_of::<E>())?;
    Ok(())
}
