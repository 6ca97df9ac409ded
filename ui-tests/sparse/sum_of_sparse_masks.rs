//! Sparse tensors of bools are not added to one another.
//!
//! Instead: cast first, `.to::<i64>()`.
//!
//! names: add
//! names: bool
//! says: .to::<

use castiron::tensor;

fn main() {
    let mask = tensor![[false, true]].to_sparse();
    let _ = &mask + &mask;
    // instead: let _ = mask.to::<i64>() + mask.to::<i64>();
}
