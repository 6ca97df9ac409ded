//! `A += B` needs that the promoted dtype may be cast to `A`.
//!
//! Instead: return `x + y`, or use one dtype for both.
//!
//! names: A
//! names: cast
//! says: let x | out-of-place | CanCast | new tensor

use castiron::{Dtype, Shape, Tensor};

fn add<A: Dtype, B: Dtype, S: Shape>(x: &mut Tensor<A, S>, y: &Tensor<B, S>) {
    *x += y;
    // instead: let _ = &*x + y;
}

fn main() {}
