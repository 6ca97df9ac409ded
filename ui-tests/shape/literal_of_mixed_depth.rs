//! All elements of a list are lists, or none is.
//!
//! Instead: brackets round the number.
//!
//! names: list
//! says: list

use castiron::tensor;

fn main() {
    let _ = tensor![[1, 2], 3];
    // instead: let _ = tensor![[1, 2], [3, 3]];
}
