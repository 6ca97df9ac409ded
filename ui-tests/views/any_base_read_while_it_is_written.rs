//! While a mutable view of an `AnyTensor` exists, nobody else reads what it borrows.
//!
//! Instead: read after the last use of the view, or clone the tensor first.
//!
//! names: borrow `x`
//! says: clone
//! rustc: E0502

use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let mut row = x.select_mut(0, 0)?;
    // instead: let sum = x.sum(None, false, None)?;
    // instead: let mut row = x.select_mut(0, 0)?;
    let sum = x.sum(None, false, None)?;
    // instead:
    row.add_(sum)?;
    Ok(())
}
