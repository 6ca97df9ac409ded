//! Sizes are numbers from 0 on; `-1` of PyTorch is `_`.
//!
//! Instead: `shape![_, 2]`.
//!
//! names: size | dimension
//! says: _

use castiron::{shape, tensor};

fn main() {
    let x = tensor![1, 2, 3, 4];
    let _ = x.reshape::<shape![-1, 2]>();
    // instead: let _ = x.reshape::<shape![_, 2]>();
}
