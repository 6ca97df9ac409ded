//! Integers have no exponentials: the formula is one of floats.
//!
//! Instead: a formula of floats, of converted elements.
//!
//! names: which this is not defined for
//! says: x.to::<f32>()

use castiron::{formula, tensor};

#[formula]
fn grown<I: Integer>(x: I) -> I {
    x.exp()
    // instead: x * x
}

fn main() {
    let _ = tensor![1, 2].apply(grown, ());
}
