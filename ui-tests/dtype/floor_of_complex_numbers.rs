//! Rounding is for real numbers.
//!
//! Instead: round `z.real()` and `z.imag()`.
//!
//! names: floor
//! names: Complex
//! says: real

use castiron::tensor;

fn main() {
    let _ = tensor![1.0 + 2.0j, 0.5].floor();
    // instead: let _ = tensor![1.0 + 2.0j, 0.5].real().floor();
}
