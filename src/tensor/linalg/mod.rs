//! Products of vectors and matrices: `matmul`, `addmm`, `multi_dot`, `linear`.

// Documentation lists methods in this order.
pub(crate) mod matmul;

pub(crate) mod products;

pub(crate) mod addmm;
pub(crate) mod einsum;
pub(crate) mod int_mm;
pub(crate) mod linear;
pub(crate) mod multi_dot;
