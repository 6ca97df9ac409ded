//! Several tensors made one: `cat`, `stack` and their kin, `meshgrid`, `block_diag`.

pub(crate) mod cat_stack;
#[cfg(feature = "cuda")]
pub(crate) mod combinations;
pub(crate) mod meshgrid;

rows_of!(cat_stack, meshgrid);
