//! Assigning casts no float to an integer.
//!
//! Instead: `counts.assign(x.to::<i64>())`, or `copy_from`, which converts.
//!
//! names: f32
//! names: i64
//! says: copy_from | .to::<

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    counts.assign(tensor![1.5, 2.5, 3.5]);
    // instead: counts.assign(tensor![1.5, 2.5, 3.5].to::<i64>());
}
