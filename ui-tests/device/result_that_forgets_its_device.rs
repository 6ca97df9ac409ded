//! A result is on the device of its operands.
//!
//! Instead: name the device in the type.
//!
//! names: Cuda
//! says: Cuda<0>
//! rustc: E0308

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let y: Tensor<f32, shape![3]> = &x * 2.0;
    // instead: let y: Tensor<f32, shape![3], Cuda<0>> = &x * 2.0;
}
