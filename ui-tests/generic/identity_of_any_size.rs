//! A size `N: Dim` may be known at run time only.
//!
//! Instead: `p.eye_like()`, or `eye_sized`.
//!
//! names: N
//! says: eye_sized
//! says: eye_like

use castiron::{Dim, RealField, Tensor};

fn damped<E: RealField, N: Dim>(p: &Tensor<E, (N, N)>) -> Tensor<E, (N, N)> {
    p + Tensor::<E, (N, N)>::eye()
    // instead: p + p.eye_like()
}

fn main() {}
