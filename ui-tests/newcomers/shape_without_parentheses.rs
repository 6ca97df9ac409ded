//! What PyTorch reads as attributes are methods.
//!
//! Instead: `x.shape()[0]`.
//!
//! names: method
//! names: shape
//! says: shape()
//! rustc: E0615

use castiron::tensor;

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let _ = x.shape[0];
    // instead: let _ = x.shape()[0];
}
