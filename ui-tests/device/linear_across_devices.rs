//! The weights of a layer are where its input is.
//!
//! Instead: `w.to_device::<Cuda<0>>()?`, or the whole module moved by `ToDevice`.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x: Tensor<f32, shape![8, 2], Cuda<0>> = Tensor::zeros();
    let (w, b) = (Tensor::<f32, shape![3, 2]>::zeros(), Tensor::<f32, shape![3]>::zeros());
    let _ = x.linear(&w, Some(&b));
    // instead: let _ = x.linear(&w.to_device().unwrap(), Some(&b.to_device().unwrap()));
}
