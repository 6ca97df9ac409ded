//! Two dimensions of two names need not be equal.
//!
//! Instead: one name, `K`, for both.
//!
//! names: matmul
//! names: K
//! names: L
//! says: same | one | equal

use castiron::{Dim, Numeric, Tensor};

fn product<E: Numeric, M: Dim, K: Dim, L: Dim, N: Dim>(x: &Tensor<E, (M, K)>, y: &Tensor<E, (L, N)>) -> Tensor<E, (M, N)> {
// instead: fn product<E: Numeric, M: Dim, K: Dim, N: Dim>(x: &Tensor<E, (M, K)>, y: &Tensor<E, (K, N)>) -> Tensor<E, (M, N)> {
    x.matmul(y)
}

fn main() {}
