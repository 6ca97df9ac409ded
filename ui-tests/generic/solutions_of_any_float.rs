//! Matrices are factored in `f32` and `f64`, not in 16-bit floats.
//!
//! Instead: `E: RealField`.
//!
//! names: linear algebra is not defined for `E`
//! says: E: RealField

use castiron::{Dim, Float, Tensor};
// instead: use castiron::{Dim, RealField, Tensor};

fn residual<E: Float, N: Dim>(a: &Tensor<E, (N, N)>, b: &Tensor<E, (N,)>) -> Tensor<E, (N,)> {
// instead: fn residual<E: RealField, N: Dim>(a: &Tensor<E, (N, N)>, b: &Tensor<E, (N,)>) -> Tensor<E, (N,)> {
    a.matmul(a.solve(b)) - b
}

fn main() {}
