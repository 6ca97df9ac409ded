//! Both factors of a Kronecker product are on one device.
//!
//! Instead: move one of them first.
//!
//! names: devices
//! names: Cpu
//! names: Meta
//! says: .to_device

use castiron::{Meta, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![2, 2]> = Tensor::ones();
    let y: Tensor<f32, shape![3, 3], Meta> = Tensor::ones();
    // instead: let y: Tensor<f32, shape![3, 3]> = Tensor::ones();
    let _ = x.kron(&y);
}
