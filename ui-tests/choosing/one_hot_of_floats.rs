//! Classes are `i64`.
//!
//! Instead: cast first: `.to::<i64>()`.

use castiron::tensor;

fn main() {
    let _ = tensor![0.0, 1.0].one_hot_sized(2);
}
