//! A tensor on `Meta` has a shape and a dtype, and no elements.
//!
//! Instead: compute on `Cpu`; on `Meta` ask for shapes.
//!
//! names: Meta
//! says: .to_device | Cpu

use castiron::{Meta, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3], Meta>::ones();
    // instead: let x = Tensor::<f32, shape![3]>::ones();
    let _ = x.to_vec();
}
