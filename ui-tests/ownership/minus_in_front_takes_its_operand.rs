//! `-x` takes `x`.
//!
//! Instead: `-&x`.
//!
//! names: moved
//! names: `x`
//! says: clone
//! rustc: E0382

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let y = -x;
    // instead: let y = -&x;
    let _ = x * y;
}
