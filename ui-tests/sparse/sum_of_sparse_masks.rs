//! Sparse tensors of bools are not added to one another.
//!
//! Instead: cast first, `.to::<i64>()`.

use castiron::tensor;

fn main() {
    let mask = tensor![[false, true]].to_sparse();
    let _ = &mask + &mask;
}
