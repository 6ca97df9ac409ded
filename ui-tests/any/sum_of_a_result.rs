//! An operation on tensors known at run time can fail: it gives a `Result`.
//!
//! Instead: `?` after each step.
//!
//! names: Result
//! says: ?
//! rustc: E0599

use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let y = &x + 1;
    // instead: let y = (&x + 1)?;
    y.sum(None, false, None)?;
    Ok(())
}
