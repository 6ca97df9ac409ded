//! `...` stands for the axes that are left.
//!
//! Instead: one of them.
//!
//! names: ...
//! says: one

use castiron::{Tensor, s, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3, 4]>::ones();
    let _ = x.slice(s![..., 0, ...]);
    // instead: let _ = x.slice(s![..., 0, ..]);
}
