//! Stacked tensors are on one device.
//!
//! Instead: move the others first.
//!
//! names: devices
//! says: .to_device

use castiron::{Cuda, Tensor, axis, shape, stack};

fn main() {
    let x = Tensor::<f32, shape![3]>::zeros();
    let y = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let _ = stack((&x, &y), axis![0]);
    // instead: let _ = stack((x.to_device::<Cuda<0>>().unwrap(), &y), axis![0]);
}
