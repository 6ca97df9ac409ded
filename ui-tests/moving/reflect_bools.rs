//! Bools are padded with a constant or in a circle, as in PyTorch.
//!
//! Instead: `x.pad::<shape![1, 1], _>(Constant(false))`.
//!
//! names: Reflect
//! names: bool
//! says: Constant | Circular

use castiron::pad::Reflect;
use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<bool, shape![4]>::zeros();
    let _ = x.pad::<shape![1, 1], _>(Reflect);
    // instead: let _ = x.pad::<shape![1, 1], _>(castiron::pad::Constant(false));
}
