//! Classes are `i64`.
//!
//! Instead: cast first: `.to::<i64>()`.
//!
//! names: one_hot
//! names: i64
//! says: .to::<i64>()

use castiron::tensor;

fn main() {
    let _ = tensor![0.0, 1.0].one_hot_sized(2);
    // instead: let _ = tensor![0.0, 1.0].to::<i64>().one_hot_sized(2);
}
