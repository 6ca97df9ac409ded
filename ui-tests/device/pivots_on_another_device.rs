//! Pivots are where the factors are that they belong to.
//!
//! Instead: move the pivots first.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let lu: Tensor<f32, shape![2, 2]> = Tensor::eye();
    let pivots: Tensor<i32, shape![2], Cuda<0>> = Tensor::ones();
    // instead: let pivots: Tensor<i32, shape![2]> = Tensor::ones();
    let _ = lu.lu_solve(&pivots, &Tensor::<f32, shape![2, 1]>::ones(), false);
}
