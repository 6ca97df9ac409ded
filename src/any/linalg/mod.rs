//! Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `einsum`.

pub(crate) mod distance;
pub(crate) mod einsum;
pub(crate) mod linear;
pub(crate) mod matmul;
pub(crate) mod matrix_power;
pub(crate) mod tensordot;

rows_of!(distance, einsum, linear, matmul, matrix_power, tensordot);
