//! Several tensors made one: `cat`, `stack`, `hstack` and their kin, `meshgrid`, `block_diag`.
//! Uses strided copies into one new tensor.

// First what readers of the documentation look for first.
pub(crate) mod cat_stack;

pub(crate) mod hstack;
pub(crate) mod meshgrid;
