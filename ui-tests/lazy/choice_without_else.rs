//! Every element is something: a choice has two sides.
//!
//! Instead: `else { 0 }`.
//!
//! names: else
//! says: else

use castiron::{fused, tensor};

fn main() {
    let x = tensor![0.5, -1.5];
    let _ = fused!(if x > 0 { x });
    // instead: let _ = fused!(if x > 0 { x } else { 0 });
}
