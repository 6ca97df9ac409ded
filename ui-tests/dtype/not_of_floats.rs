//! `!` is bitwise: for bools and integers.
//!
//! Instead: `x.logical_not()`.
//!
//! names: bitwise_not
//! names: f32
//! says: logical_not

use castiron::tensor;

fn main() {
    let _ = tensor![1.0, 2.0].bitwise_not();
    // instead: let _ = tensor![1.0, 2.0].logical_not();
}
