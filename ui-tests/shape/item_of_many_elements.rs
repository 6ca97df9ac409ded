//! `item` is for tensors of one element.
//!
//! Instead: index it: `x[1]`.
//!
//! names: one element
//! says: index | x[

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2, 3].item();
    // instead: let _ = tensor![1, 2, 3][1];
}
