//! `u32` is stored, moved and cast; PyTorch computes nothing with it.
//!
//! Instead: cast to `i64`.
//!
//! names: u32
//! says: .to::<

use castiron::{Tensor, shape};

fn main() {
    let ids = Tensor::<u32, shape![3]>::zeros();
    let _ = &ids + 1;
    // instead: let _ = ids.to::<i64>() + 1;
}
