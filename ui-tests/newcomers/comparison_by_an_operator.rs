//! Rust's `>` gives one `bool`; a comparison of tensors gives one for each element.
//!
//! Instead: `gt`, `lt`, `ge`, `le`.
//!
//! names: >
//! names: tensors
//! says: gt

use castiron::tensor;

fn main() {
    let x = tensor![0.2, 0.7];
    let mask = x > 0.5;
    // instead: let mask = x.gt(0.5);
}
