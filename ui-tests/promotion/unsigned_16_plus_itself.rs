//! `u16`, `u32` and `u64` are shell dtypes, as in PyTorch.
//!
//! Instead: `x.to::<i32>() + x.to::<i32>()`.
//!
//! names: u16
//! names: shell
//! says: .to::<

use castiron::{Tensor, shape};

fn main() {
    let x: Tensor<u16, shape![3]> = Tensor::zeros();
    let _ = &x + &x;
    // instead: let _ = x.to::<i32>() + x.to::<i32>();
}
