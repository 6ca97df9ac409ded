//! What an `AnyTensor` holds is known at run time.
//!
//! Instead: `typed`, which checks.
//!
//! names: AnyTensor
//! says: typed
//! rustc: E0308

use castiron::{AnyTensor, Result, Tensor, shape, tensor};

fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y: Tensor<f32, shape![2]> = x;
    // instead: let y: Tensor<f32, shape![2]> = x.typed()?;
    Ok(())
}
