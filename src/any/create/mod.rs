//! Tensors created with dtype, sizes and device as values.

pub(crate) mod by_name;
pub(crate) mod constructors;
pub(crate) mod drawn;
pub(crate) mod random;

rows_of!(by_name[EMPTY ONES OPERATIONS ZEROS], drawn[DROPOUTS OPERATIONS]);
