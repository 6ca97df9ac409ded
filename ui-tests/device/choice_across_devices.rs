//! A condition is on the device of what it chooses from.
//!
//! Instead: move the condition.
//!
//! names: devices
//! says: .to_device

use castiron::{Cuda, Tensor, shape, where_};

fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let mask = Tensor::<bool, shape![3]>::zeros();
    let _ = where_(&mask, &x, 0.0);
    // instead: let _ = where_(mask.to_device::<Cuda<0>>().unwrap(), &x, 0.0);
}
