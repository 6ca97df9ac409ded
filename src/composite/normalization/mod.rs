//! Slices brought to a norm.

pub(crate) mod renorm;

rows_of!(renorm);
