//! NumPy's `clip` is `clamp`.
//!
//! Instead: `clamp`.
//!
//! names: `clip`
//! says: clamp

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.clip(0.0, 1.5);
    // instead: let _ = x.clamp(0.0, 1.5);
}
