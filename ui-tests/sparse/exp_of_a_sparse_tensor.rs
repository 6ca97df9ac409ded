//! A function that makes zeros something else has no sparse result.
//!
//! Instead: `s.to_dense().exp()`, or a function that leaves zero at zero, such as `expm1`.
//!
//! names: exp
//! names: sparse
//! says: .to_dense()

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = s.exp();
    // instead: let _ = s.to_dense().exp();
}
