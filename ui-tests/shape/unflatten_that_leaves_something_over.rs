//! The new axes have as many elements as the one they replace.
//!
//! Instead: `unflatten::<shape![2, 3], 0>`.
//!
//! names: split
//! names: (D2, D4)
//! says: elements

use castiron::{axis, shape, tensor};

fn main() {
    let x = tensor![1, 2, 3, 4, 5, 6];
    let _ = x.unflatten::<shape![2, 4], 0>(axis![0]);
    // instead: let _ = x.unflatten::<shape![2, 3], 0>(axis![0]);
}
