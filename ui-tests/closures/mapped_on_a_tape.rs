//! A closure has no derivative.
//!
//! Instead: operations, or `fused!`, or `grad::custom` with a derivative of one's own.
//!
//! names: closures
//! names: Taped
//! says: grad::custom
//! says: .detach()

use castiron::{grad::Grad, tensor};

fn main() {
    let x = tensor![1.0_f32, 2.0];
    let _ = x.value_and_grad((), |x, ()| x.map(|v| v * v).sum());
    // instead: let _ = x.value_and_grad((), |x, ()| castiron::fused!(x * x).sum());
}
