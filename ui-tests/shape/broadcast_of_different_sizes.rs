//! Sizes go together if they are equal or one of them is 1.
//!
//! Instead: `unsqueeze` the axis that is to be repeated.
//!
//! names: broadcast
//! names: D3
//! names: D2
//! says: unsqueeze | equal

use castiron::tensor;

fn main() {
    let x = tensor![1, 2, 3];
    let y = tensor![1, 2];
    let _ = &x + &y;
    // instead: let _ = x.unsqueeze(castiron::axis![1]) + &y;
}
