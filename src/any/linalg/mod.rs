//! Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `einsum`.

pub(crate) mod distance;
pub(crate) mod einsum;
pub(crate) mod matmul;
pub(crate) mod matrix_power;
pub(crate) mod tensordot;

rows_of!(distance, einsum, matmul, matrix_power, tensordot);
