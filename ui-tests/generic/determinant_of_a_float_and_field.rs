//! Real parts of a number that is a field are a dtype of their own, unless the bound says that it is real.
//!
//! Instead: the bound `E: RealField`.
//!
//! names: mismatched
//! says: Re = E
//! rustc: E0308

use castiron::{Dim, Field, Float, Tensor, tensor};

fn log_det<E: Float + Field, N: Dim>(x: &Tensor<E, (N, N)>) -> Tensor<E, ()> {
// instead: fn log_det<E: castiron::RealField, N: Dim>(x: &Tensor<E, (N, N)>) -> Tensor<E, ()> {
    x.slogdet().1
}

fn main() {
    assert_eq!(log_det(&tensor![[1.0]]).item(), 0.0);
}
