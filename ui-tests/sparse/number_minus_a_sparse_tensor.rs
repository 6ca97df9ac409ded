//! A number beside a sparse tensor would make every zero something else.
//!
//! Instead: `to_dense()`.
//!
//! names: subtract
//! says: .to_dense()
//! rustc: E0277

use castiron::tensor;

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let _ = 1.0 - &s;
    // instead: let _ = 1.0 - &s.to_dense();
}
