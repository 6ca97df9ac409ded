//! Only the other operand is broadcast to the output, never the output to it.
//!
//! Instead: `let x = x + &matrix`.
//!
//! names: (D2, D2)
//! names: (D2,)
//! says: let x

use castiron::tensor;

fn main() {
    let mut x = tensor![1.0, 2.0];
    x += tensor![[1.0, 2.0], [3.0, 4.0]];
    // instead: let x = x + tensor![[1.0, 2.0], [3.0, 4.0]];
}
