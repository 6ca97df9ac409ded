//! A tensor compared with a number is a tensor of `bool`, one number compared with another is a `bool`.
//!
//! Instead: read the number by `item()`.
//!
//! names: <
//! names: tensors
//! says: lt
//! says: item

use castiron::tensor;

fn main() {
    let loss = tensor![0.2, 0.7].sum();
    if loss < 1.0 {
    // instead: if loss.item() < 1.0 {
        println!("small");
    }
}
