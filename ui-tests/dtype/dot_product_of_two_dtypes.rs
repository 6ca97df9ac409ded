//! A product of vectors does not promote, as in PyTorch.
//!
//! Instead: cast one of them.
//!
//! names: dot
//! names: f32
//! names: i64
//! says: .to::<

use castiron::tensor;

fn main() {
    let (x, counts) = (tensor![1.0, 2.0], tensor![1, 2]);
    let _ = x.dot(&counts);
    // instead: let _ = x.dot(counts.to::<f32>());
}
