//! PyTorch has no `-` for bools.
//!
//! Instead: `&a ^ &b`, or `a.logical_xor(&b)`.
//!
//! names: sub
//! names: bool
//! says: ^

use castiron::tensor;

fn main() {
    let mask = tensor![true, false];
    let _ = &mask - &mask;
    // instead: let _ = &mask ^ &mask;
}
