//! A comparison gives a tensor of bools.
//!
//! Instead: `any()` or `all()`, and `item()`.
//!
//! names: bool
//! names: Tensor<bool, ()>
//! says: item
//! rustc: E0308

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    if x.gt(0) {
    // instead: if x.gt(0).all().item() {
        println!("positive");
    }
}
