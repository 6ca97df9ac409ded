//! Two mutable views of one `AnyTensor` may reach the same element.
//!
//! Instead: `split_at_mut`, `unbind_mut` or another that gives parts.
use castiron::{AnyTensor, Result, tensor};

fn main() -> Result<()> {
    let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let mut row = x.select_mut(0, 0)?;
    let mut column = x.select_mut(1, 0)?;
    row.add_(1)?;
    column.add_(1)?;
    Ok(())
}
