//! A reshape keeps the number of elements.
//!
//! Instead: a shape with 6 elements, such as `shape![2, 3]`.
//!
//! names: reshaped
//! names: (D6,)
//! names: (D2, D4)
//! says: number of elements

use castiron::{shape, tensor};

fn main() {
    let x = tensor![1, 2, 3, 4, 5, 6];
    let _ = x.reshape::<shape![2, 4]>();
    // instead: let _ = x.reshape::<shape![2, 3]>();
}
