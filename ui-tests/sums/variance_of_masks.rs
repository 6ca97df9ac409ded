//! A variance is floating-point or complex.
//!
//! Instead: cast first.
//!
//! names: var
//! names: bool
//! says: .to::<

use castiron::tensor;

fn main() {
    let hits = tensor![true, false, true];
    let _ = hits.var(1);
    // instead: let _ = hits.to::<f32>().var(1);
}
