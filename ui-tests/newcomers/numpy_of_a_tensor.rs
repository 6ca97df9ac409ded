//! Elements are copied out into a `Vec`.
//!
//! Instead: `to_vec()`.
//!
//! names: `numpy`
//! says: to_vec

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let _ = x.numpy();
    // instead: let _ = x.to_vec();
}
