//! An expression is written only where its dtype may be cast without being asked.
//!
//! Instead: `counts.copy_from(&(&counts + x * 2.0))`, which converts anything.
//!
//! names: f32
//! names: i64
//! says: copy_from | let x | out-of-place

use castiron::tensor;

fn main() {
    let mut counts = tensor![1, 2, 3];
    let x = tensor![0.5, 1.5, 2.5];
    counts += x.lazy() * 2.0;
    // instead: counts.copy_from(&(&counts + x * 2.0));
}
