//! `Element` includes the shell dtypes, which do not compute.
//!
//! Instead: `E: Dtype`.

use castiron::{Element, Shape, Tensor};

fn double<E: Element, S: Shape>(x: &Tensor<E, S>) {
    let _ = x + x;
}

fn main() {}
