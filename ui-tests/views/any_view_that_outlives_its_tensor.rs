//! A mutable view of an `AnyTensor` lives no longer than the tensor.
//!
//! Instead: `to_tensor()`, which has elements of its own.
//!
//! names: `x`
//! names: live long enough
//! says: to_tensor
//! rustc: E0597

use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let mut row = {
        let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
        // instead: let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
        x.select_mut(0, 0)?
        // instead: x.select(0, 0)?
    };
    row.add_(1)?;
    Ok(())
}
