//! A formula is the same steps for all elements.
//!
//! Instead: `select` by a mask; both sides are computed.
//!
//! names: `if` asks once
//! says: select(x.gt(0.0), a, b)

use castiron::{formula, tensor};

#[formula]
fn leaky<F: Float>(x: F) -> F {
    if x > 0.0 { x } else { 0.1 * x }
    // instead: select(x.gt(0.0), x, 0.1 * x)
}

fn main() {
    let _ = tensor![-1.0, 2.0].apply(leaky, ());
}
