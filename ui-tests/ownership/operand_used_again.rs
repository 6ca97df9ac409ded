//! Operators take their operands, as those of numbers do.
//!
//! Instead: a reference, `&x + 1`, or a clone, which copies nothing.
//!
//! names: moved
//! names: `x`
//! says: clone
//! rustc: E0382

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let y = x + 1;
    // instead: let y = &x + 1;
    let _ = x.sum() + y;
}
