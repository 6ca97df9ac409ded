//! Rows of a literal have one length.
//!
//! Instead: fill the short row up.
//!
//! names: 3 elements
//! names: 2
//! says: 3 elements

use castiron::tensor;

fn main() {
    let _ = tensor![[1, 2, 3], [4, 5]];
    // instead: let _ = tensor![[1, 2, 3], [4, 5, 0]];
}
