//! Only axes of size 1 are repeated.
//!
//! Instead: `cat` the tensor to itself.

use castiron::{shape, tensor};

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x.expand::<shape![2, 6]>();
}
