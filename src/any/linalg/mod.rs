//! Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `einsum`.
//! Uses `tensor::linalg`.

pub(crate) mod einsum;
pub(crate) mod matmul;
pub(crate) mod matrix_power;
pub(crate) mod tensordot;
