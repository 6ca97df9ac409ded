//! A closure is called on the host.
//!
//! Instead: move the tensor first, or write a formula with `fused!`.
//!
//! names: closures
//! names: Cuda
//! says: .to_device
//! says: fused!

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let _ = x.map(|v| v * v + 1.0);
    // instead: let _ = castiron::fused!(x * x + 1.0);
}
