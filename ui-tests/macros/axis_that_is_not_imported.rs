//! `axis!` is a macro of castiron.
//!
//! Instead: import it.
//!
//! names: axis
//! says: use castiron::axis
//! rustc: no code

use castiron::tensor;
// instead: use castiron::{axis, tensor};

fn main() {
    let _ = tensor![[1.0, 2.0]].sum_axis(axis![-1]);
}
