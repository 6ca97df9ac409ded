//! A matrix product does not promote, as in PyTorch.
//!
//! Instead: cast the integers.
//!
//! names: matmul
//! names: i64
//! names: f32
//! says: .to::<

use castiron::tensor;

fn main() {
    let (x, w) = (tensor![[1, 2]], tensor![[0.5], [0.5]]);
    let _ = x.matmul(&w);
    // instead: let _ = x.to::<f32>().matmul(&w);
}
