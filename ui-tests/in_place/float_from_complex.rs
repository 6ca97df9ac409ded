//! A real output takes no complex result.
//!
//! Instead: `x.to::<Complex<f32>>() + &z`, or `x += z.real()`.
//!
//! names: Complex
//! names: f32
//! says: let x | out-of-place | new tensor

use castiron::tensor;

fn main() {
    let mut x = tensor![1.0, 2.0];
    x += tensor![1.0 + 2.0j, 0.5];
    // instead: x += tensor![1.0 + 2.0j, 0.5].real();
}
