//! A literal is an `f32` or an `f64`, and no number of any dtype.
//!
//! Instead: `E::from_f64`.
//!
//! names: E
//! says: from_f64 | cast_to
//! rustc: E0308

use castiron::{Float, Shape, Tensor};

fn halved<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    let half: E = 0.5;
    // instead: let half: E = E::from_f64(0.5);
    x * half
}

fn main() {}
