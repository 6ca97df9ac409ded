//! Elements are visited where the program runs, and `Meta` has none.
//!
//! Instead: a tensor on `Cpu`.
//!
//! names: Meta
//! says: .to_device | Cpu

use castiron::{Meta, Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![3], Meta>::ones();
    // instead: let x = Tensor::<f32, shape![3]>::ones();
    for value in x.iter() {
        println!("{value}");
    }
}
