//! A tensor on `Meta` has no elements to add.
//!
//! Instead: both on `Meta`, for shapes, or both on `Cpu`.
//!
//! names: devices
//! names: Meta
//! says: .to_device

use castiron::{Meta, Tensor, shape};

fn main() {
    let (x, y) = (Tensor::<f32, shape![3], Meta>::ones(), Tensor::<f32, shape![3]>::ones());
    let _ = &x + &y;
    // instead: let _ = &x + y.to_device::<Meta>().unwrap();
}
