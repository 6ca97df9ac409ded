//! Several tensors joined into one: `cat`, `stack` and others, `meshgrid`, `block_diag`.

pub(crate) mod cat_stack;
pub(crate) mod combinations;
pub(crate) mod meshgrid;

rows_of!(cat_stack, meshgrid);
