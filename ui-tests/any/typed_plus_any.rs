//! A tensor whose dtype and shape are types is not combined with one that has them as values.
//!
//! Instead: make both of one kind: `typed` or `AnyTensor::from`.
//!
//! names: AnyTensor
//! says: typed | AnyTensor::from

use castiron::{AnyTensor, Result, tensor};
// instead: use castiron::{AnyTensor, Cpu, Result, shape, tensor};

fn main() -> Result<()> {
    let x = tensor![1.0, 2.0];
    let y = AnyTensor::from(tensor![3.0, 4.0]);
    let _ = &x + &y;
    // instead: let _ = &x + &y.typed::<f32, shape![2], Cpu>()?;
    Ok(())
}
