//! Normalisation: elements scaled to a norm, or to a mean and a variance.

#[cfg(feature = "grad")]
pub(crate) mod back;
pub(crate) mod channels;
pub(crate) mod large;
pub(crate) mod normalize;
pub(crate) mod renorm;
pub(crate) mod rows;

rows_of!(channels, normalize, renorm, rows);
