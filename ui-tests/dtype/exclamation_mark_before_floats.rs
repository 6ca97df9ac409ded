//! `!` is bitwise: for bools and integers.
//!
//! Instead: `logical_not`, or a comparison with zero.
//!
//! names: bitwise_not | unary operator `!`
//! says: logical_not
//! rustc: E0600

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 0.0];
    let _ = !&x;
    // instead: let _ = x.logical_not();
}
