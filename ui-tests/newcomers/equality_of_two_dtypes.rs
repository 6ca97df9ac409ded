//! `==` compares two tensors of one dtype.
//!
//! Instead: convert one, or compare element by element.
//!
//! names: ==
//! names: f32
//! names: i64
//! says: eq

use castiron::tensor;

fn main() {
    let (x, y) = (tensor![1.0, 2.0], tensor![1, 2]);
    assert!(x == y);
    // instead: assert!(x == y.to::<f32>());
}
