//! A formula is of one of the sets of dtypes.
//!
//! Instead: the name of the set.
//!
//! names: is no set of numbers
//! says: ComplexFloat

use castiron::{formula, tensor};

#[formula]
fn turned<C: Complex>(z: C) -> C {
    // instead: fn turned<C: ComplexFloat>(z: C) -> C {
    z.conj()
}

fn main() {
    let _ = tensor![1.0 + 2.0j].apply(turned, ());
}
