//! Several tensors joined into one: `cat`, `stack`, `hstack` and so on, `meshgrid`, `block_diag`.

// Documentation lists methods in this order.
pub(crate) mod cat_stack;

pub(crate) mod hstack;
pub(crate) mod meshgrid;
pub(crate) mod pieces;
