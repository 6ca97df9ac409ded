//! An operation on tensors known at run time can fail, so its result has no sign before it has been asked.
//!
//! Instead: `?` round each step.
//!
//! names: Result
//! says: ?
//! rustc: E0600

use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y = (-(&x + 1))?;
    // instead: let y = (-(&x + 1)?)?;
    Ok(())
}
