//! Between two commas is an element.
//!
//! Instead: the element, or one comma.
//!
//! names: element
//! says: before the comma

use castiron::tensor;

fn main() {
    let _ = tensor![1,, 2];
    // instead: let _ = tensor![1, 2];
}
