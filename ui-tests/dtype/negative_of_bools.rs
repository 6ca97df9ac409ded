//! PyTorch has no unary `-` for bools.
//!
//! Instead: `!&mask`.

use castiron::{tensor};

fn main() {
    let _ = tensor![true, false].neg();
}
