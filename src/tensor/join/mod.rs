//! Several tensors made one: `cat`, `stack`, `hstack` and their kin, `meshgrid`, `block_diag`.

// The documentation lists methods in this order.
pub(crate) mod cat_stack;

pub(crate) mod hstack;
pub(crate) mod meshgrid;
pub(crate) mod pieces;
mod plan;
