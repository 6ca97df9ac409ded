//! A real output takes no complex result.
//!
//! Instead: `x.to::<Complex<f32>>() + &z`, or `x += z.real()`.

use castiron::{tensor};

fn main() {
    let mut x = tensor![1.0, 2.0];
    x += tensor![1.0 + 2.0j, 0.5];
}
