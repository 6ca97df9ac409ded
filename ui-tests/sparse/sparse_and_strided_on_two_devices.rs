//! Operands are on one device, whatever their layout.
//!
//! Instead: move the strided one.
//!
//! names: Cuda<0>
//! says: .to_device

use castiron::{Cuda, Tensor, shape, tensor};

fn main() {
    let s = tensor![[0.0, 1.0]].to_sparse();
    let x = Tensor::<f32, shape![1, 2], Cuda<0>>::ones();
    let _ = &s + &x;
    // instead: let _ = &s + &x.to_device::<castiron::Cpu>().unwrap();
}
