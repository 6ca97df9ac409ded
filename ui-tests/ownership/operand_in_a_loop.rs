//! An operand is taken in the first round of a loop.
//!
//! Instead: a reference.
//!
//! names: moved
//! names: `x`
//! says: clone
//! rustc: E0382

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    for step in 0..3 {
        let _ = x * step;
        // instead: let _ = &x * step;
    }
}
