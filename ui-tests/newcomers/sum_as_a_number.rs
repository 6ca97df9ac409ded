//! A sum is a tensor of no axes; its one element is a number.
//!
//! Instead: `item()`.
//!
//! names: f32
//! names: Tensor<f32, ()>
//! says: item | .into()
//! rustc: E0308

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let total: f32 = x.sum();
    // instead: let total: f32 = x.sum().item();
}
