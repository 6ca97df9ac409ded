//! A mask is on the device of what it chooses from.
//!
//! Instead: move it first.
//!
//! names: devices
//! says: .to_device

use castiron::{Cuda, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3], Cuda<0>>::zeros();
    let mask = Tensor::<bool, shape![3]>::zeros();
    let _ = x.masked_fill(&mask, 0);
    // instead: let _ = x.masked_fill(mask.to_device::<Cuda<0>>().unwrap(), 0);
}
