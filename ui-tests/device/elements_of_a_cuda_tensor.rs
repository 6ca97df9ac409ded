//! Elements are read where the program runs.
//!
//! Instead: move the tensor first.
//!
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::ones();
    let _ = x.to_vec();
    // instead: let _ = x.to_device::<castiron::Cpu>().unwrap().to_vec();
}
