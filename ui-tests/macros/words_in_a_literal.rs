//! Elements are numbers and bools.
//!
//! Instead: a number.
//!
//! names: &str
//! names: dtype
//! says: f32 | i64

use castiron::tensor;

fn main() {
    let _ = tensor!["a", "b"];
    // instead: let _ = tensor![97, 98];
}
