//! Groups divide the channels.
//!
//! Instead: take a number of groups that divides them.
//!
//! names: `D4` groups do not divide `D6` channels
//! says: as many channels as the others

use castiron::{Tensor, dim, shape};

fn main() {
    let x: Tensor<f32, shape![2, 6, 3]> = Tensor::zeros();
    let _ = x.group_norm::<dim!(4), _, _>((), (), 1e-5);
    // instead: let _ = x.group_norm::<dim!(3), _, _>((), (), 1e-5);
}
