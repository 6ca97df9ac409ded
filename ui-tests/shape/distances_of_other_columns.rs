//! Distances are between vectors of one length.
//!
//! Instead: as many columns on both sides.
//!
//! names: `cdist`
//! names: D2
//! names: D3
//! says: equal

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![4, 2]>::ones();
    let y = Tensor::<f32, shape![5, 3]>::ones();
    // instead: let y = Tensor::<f32, shape![5, 2]>::ones();
    let _ = x.cdist(&y, 2.0);
}
