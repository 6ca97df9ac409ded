//! Matrix and right side hold one dtype.
//!
//! Instead: `.to::<f64>()`.
//!
//! names: solve
//! names: f32
//! names: f64
//! says: .to::<

use castiron::{Tensor, shape, tensor};

fn main() {
    let a = Tensor::<f64, shape![2, 2]>::eye();
    let _ = a.solve(tensor![1.0, 2.0]);
    // instead: let _ = a.solve(tensor![1.0, 2.0].to::<f64>());
}
