//! The shapes of a lazy expression broadcast, or it does not compile.
//!
//! Instead: `(3, 4)` beside `(3, 4)`, `(4,)` or a size of 1.
//!
//! names: broadcast
//! names: D4
//! names: D5
//! says: unsqueeze | equal

use castiron::{Tensor, shape};

fn main() {
    let a = Tensor::<f32, shape![3, 4]>::ones();
    let b = Tensor::<f32, shape![3, 5]>::ones();
    // instead: let b = Tensor::<f32, shape![3, 4]>::ones();
    let _ = a.lazy() * 2.0 + &b;
}
