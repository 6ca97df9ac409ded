//! One number, too, is read where the program runs.
//!
//! Instead: move it first.
//!
//! names: Cuda
//! says: .to_device
//! rustc: E0599

use castiron::{Cuda, Tensor, shape};

fn main() {
    let losses = Tensor::<f32, shape![3], Cuda<0>>::ones();
    let _ = losses.mean().item();
    // instead: let _ = losses.mean().to_device::<castiron::Cpu>().unwrap().item();
}
