//! Indices are on the device of the tensor they choose from.
//!
//! Instead: move the indices.
//!
//! names: device
//! says: .to_device

use castiron::{Cuda, Tensor, axis, shape, tensor};

fn main() {
    let table = Tensor::<f32, shape![5, 3], Cuda<0>>::zeros();
    let _ = table.index_select(axis![0], tensor![0, 2]);
    // instead: let _ = table.index_select(axis![0], tensor![0, 2].to_device::<Cuda<0>>().unwrap());
}
