//! Only axes of size 1 are repeated.
//!
//! Instead: `cat` the tensor to itself.
//!
//! names: expanded
//! says: size 1 | of 1 | repeat

use castiron::{shape, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.expand::<shape![2, 6]>();
    // instead: let _ = x.expand::<shape![2, 3]>();
}
