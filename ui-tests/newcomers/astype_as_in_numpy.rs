//! The dtype is a type.
//!
//! Instead: `to::<f64>()`.
//!
//! names: `astype`
//! says: .to::<

use castiron::tensor;

fn main() {
    let x = tensor![1, 2];
    let _ = x.astype("float64");
    // instead: let _ = x.to::<f64>();
}
