//! Normalisation: elements scaled to a norm, or to a mean and a variance.

pub(crate) mod channels;
pub(crate) mod large;
pub(crate) mod normalize;
pub(crate) mod renorm;
pub(crate) mod rows;

rows_of!(channels, normalize, renorm, rows);
