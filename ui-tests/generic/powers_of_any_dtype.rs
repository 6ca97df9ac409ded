//! `Dtype` includes `bool`, which has no powers.
//!
//! Instead: `E: Numeric`.
//!
//! names: E
//! says: Numeric

use castiron::{Dtype, Shape, Tensor};
// instead: use castiron::{Dtype, Numeric, Shape, Tensor};

fn squares<E: Dtype, S: Shape>(x: &Tensor<E, S>) {
// instead: fn squares<E: Numeric, S: Shape>(x: &Tensor<E, S>) {
    let _ = x.matmul(x.t());
    // instead: let _ = x.square();
}

fn main() {}
