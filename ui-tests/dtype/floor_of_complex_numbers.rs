//! Rounding is for real numbers.
//!
//! Instead: round `z.real()` and `z.imag()`.

use castiron::{tensor};

fn main() {
    let _ = tensor![1.0 + 2.0j, 0.5].floor();
}
