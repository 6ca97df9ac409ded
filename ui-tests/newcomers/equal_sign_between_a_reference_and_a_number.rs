//! `==` compares wholes.
//!
//! Instead: `eq` compares element by element.
//!
//! names: ==
//! names: integer
//! says: eq
//! rustc: E0277

use castiron::tensor;

fn main() {
    let labels = tensor![0, 1, 1];
    let _ = &labels == 1;
    // instead: let _ = labels.eq(1);
}
