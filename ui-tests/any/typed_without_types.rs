//! What `typed` checks is written in its brackets.
//!
//! Instead: dtype, shape and device.
//!
//! names: type annotations
//! says: Tensor<E, S, D>
//! rustc: E0283

use castiron::{AnyTensor, Result, tensor};
// instead: use castiron::{AnyTensor, Cpu, Result, shape, tensor};

fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y = x.typed()?;
    // instead: let y = x.typed::<f32, shape![2], Cpu>()?;
    Ok(())
}
