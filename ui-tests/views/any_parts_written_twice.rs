//! Two mutable views of one `AnyTensor` may reach the same element.
//!
//! Instead: `split_at_mut`, `unbind_mut` or another that gives parts.
//!
//! names: `x`
//! names: mutable more than once
//! says: unbind_mut
//! rustc: E0499

use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let mut row = x.select_mut(0, 0)?;
    // instead: let [mut row, mut other] = x.split_at_mut(0, 1)?;
    let mut column = x.select_mut(1, 0)?;
    // instead:
    row.add_(1)?;
    column.add_(1)?;
    // instead: other.add_(1)?;
    Ok(())
}
