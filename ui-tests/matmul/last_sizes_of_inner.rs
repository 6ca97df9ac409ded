//! `inner` sums along the last axes of both.
//!
//! Instead: transpose one of them, or name the axes.
//!
//! names: D3
//! says: .t() | tensordot

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::ones();
    let y = Tensor::<f32, shape![3, 4]>::ones();
    let _ = x.inner(&y);
    // instead: let _ = x.inner(&y.t());
}
