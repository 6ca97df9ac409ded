//! A tensor is not taken twice.
//!
//! Instead: references.
//!
//! names: moved
//! names: `x`
//! says: clone
//! rustc: E0382

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x * x;
    // instead: let _ = &x * &x;
}
