//! PyTorch has no unary `-` for bools.
//!
//! Instead: `!mask` turns every element round.
//!
//! names: neg | unary operator `-`
//! says: `!` | logical_not | !mask
//! rustc: E0600

use castiron::tensor;

fn main() {
    let mask = tensor![true, false];
    let _ = -mask;
    // instead: let _ = !mask;
}
