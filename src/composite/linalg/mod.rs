//! Products and distances.

pub(crate) mod contraction;
pub(crate) mod distance;
pub(crate) mod euclidean;
pub(crate) mod product;

rows_of!(contraction, distance);
