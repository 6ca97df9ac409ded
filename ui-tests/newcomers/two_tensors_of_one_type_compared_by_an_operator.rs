//! Rust's `>` gives one `bool`; a comparison of tensors gives one for each element.
//!
//! Instead: `gt`, `lt`, `ge`, `le`.
//!
//! names: >
//! says: gt

use castiron::tensor;

fn main() {
    let (x, y) = (tensor![0.2, 0.7], tensor![0.5, 0.5]);
    let _ = x > y;
    // instead: let _ = x.gt(y);
}
