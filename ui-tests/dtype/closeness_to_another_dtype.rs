//! Tensors that are close have one dtype: nothing is promoted.
//!
//! Instead: cast one of them.
//!
//! names: allclose
//! names: f32
//! says: .to::<f32>()

use castiron::tensor;

fn main() {
    let (x, y) = (tensor![1.0, 2.0], tensor![1.0, 2.0; f64]);
    assert!(x.allclose(&y));
    // instead: assert!(x.allclose(&y.to::<f32>()));
}
