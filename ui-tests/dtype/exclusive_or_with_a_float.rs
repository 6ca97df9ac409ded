//! Bitwise operators are for bools and integers, and so is the number beside them.
//!
//! Instead: an integer.
//!
//! names: bitwise_xor
//! says: integers | cast

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2] ^ 0.5;
    // instead: let _ = tensor![1, 2] ^ 1;
}
