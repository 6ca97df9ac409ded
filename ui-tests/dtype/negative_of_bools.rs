//! PyTorch has no unary `-` for bools.
//!
//! Instead: `!&mask`.
//!
//! names: neg
//! names: bool
//! says: `!` | logical_not

use castiron::tensor;

fn main() {
    let _ = tensor![true, false].neg();
    // instead: let _ = !tensor![true, false];
}
