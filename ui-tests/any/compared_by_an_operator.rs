//! Comparing two `AnyTensor`s can fail, which an operator can't say.
//!
//! Instead: `before.equal(&after)?`.
//!
//! names: `==` is not defined
//! says: before.equal(&after)?
//! says: before.eq(&after)?

use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let before = AnyTensor::from(tensor![1.0, 2.0]);
    let after = before.clone();
    assert!(before == after);
    // instead: assert!(before.equal(&after)?);
    Ok(())
}
