//! A literal is no number of any dtype.
//!
//! Instead: `E::from_f64`.
//!
//! names: E
//! says: from | cast_to
//! rustc: E0308

use castiron::{Float, Shape, Tensor};
// instead: use castiron::dtype::CastTo;
// instead: use castiron::{Float, Shape, Tensor};

fn halved<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    let half: E = 0.5;
    // instead: let half: E = 0.5_f64.cast_to();
    x * half
}

fn main() {}
