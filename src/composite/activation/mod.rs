//! Activations.

pub(crate) mod glu;

rows_of!(glu);
