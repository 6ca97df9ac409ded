//! A tensor that is written to is not read through a reference at the same time.
//!
//! Instead: a clone, which copies nothing before the first write, or `x *= 2`.
//!
//! names: borrow `x`
//! says: clone
//! rustc: E0502

use castiron::tensor;

fn main() {
    let mut x = tensor![1.0, 2.0];
    x += &x;
    // instead: x += x.clone();
}
