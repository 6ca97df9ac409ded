//! Tensors that are zipped are on one device.
//!
//! Instead: move the other tensor to the host.
//!
//! names: devices
//! names: Cpu
//! names: Cuda
//! says: .to_device

use castiron::{Cuda, Tensor, shape, tensor};

fn main() {
    let (x, y) = (tensor![1.0, 2.0], Tensor::<f32, shape![2], Cuda<0>>::zeros());
    let _ = x.zip_map(&y, |(x, y)| x + y);
    // instead: let _ = x.zip_map(y.to_device::<castiron::Cpu>().unwrap(), |(x, y)| x + y);
}
