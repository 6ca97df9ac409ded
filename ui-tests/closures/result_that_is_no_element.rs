//! What a closure returns is the element of a tensor.
//!
//! Instead: collect other values from the iterator.
//!
//! names: String
//! names: dtype
//! says: elements are

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.map(|v| v.to_string());
    // instead: let _: Vec<String> = x.iter().map(|v| v.to_string()).collect();
}
