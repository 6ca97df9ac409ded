//! `fused!` gives a tensor.
//!
//! Instead: `item()` behind it.
//!
//! names: fused!
//! names: f32
//! says: fused!(x.sum()).item()

use castiron::{fused, tensor};

fn main() {
    let x = tensor![1.0, 3.0];
    let _ = fused!(x.sum().item());
    // instead: let _ = fused!(x.sum()).item();
}
