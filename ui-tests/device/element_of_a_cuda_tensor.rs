//! Indexing reads an element where the program runs.
//!
//! Instead: move the tensor first, or make a view with `slice`.
//!
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3], Cuda<0>>::ones();
    let _ = x[(0, 1)];
    // instead: let _ = x.to_device::<castiron::Cpu>().unwrap()[(0, 1)];
}
