//! A reshape keeps the number of elements.
//!
//! Instead: a shape with as many elements.
//!
//! names: reshaped
//! names: (D6,)
//! says: number of elements

use castiron::{shape, tensor};

fn main() {
    let x = tensor![[1, 2, 3], [4, 5, 6]].flatten();
    let _ = x.reshape::<shape![3, 3]>();
    // instead: let _ = x.reshape::<shape![3, 2]>();
}
