//! Shifts are defined for integers.
//!
//! Instead: `&x * 4.0`.

use castiron::{tensor};

fn main() {
    let _ = tensor![1.0, 2.0] << 2;
}
