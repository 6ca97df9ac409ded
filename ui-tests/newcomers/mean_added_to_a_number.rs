//! A tensor is added to a number after its element is read.
//!
//! Instead: `.item()`.
//!
//! names: Tensor<f32, ()>
//! names: a number
//! says: item()

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let mut total = 0.0;
    total += x.mean();
    // instead: total += x.mean().item();
    println!("{total}");
}
