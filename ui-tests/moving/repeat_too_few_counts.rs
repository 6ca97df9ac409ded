//! `repeat` takes a count for each axis.
//!
//! Instead: `x.repeat::<shape![1, 2]>()`, or `x.tile::<shape![2]>()`.
//!
//! names: repeat
//! says: tile | each axis

use castiron::{Tensor, shape};

fn main() {
    let x = Tensor::<f32, shape![2, 3]>::zeros();
    let _ = x.repeat::<shape![2]>();
    // instead: let _ = x.repeat::<shape![1, 2]>();
}
