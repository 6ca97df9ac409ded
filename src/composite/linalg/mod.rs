//! Products and distances.

pub(crate) mod addmm;
pub(crate) mod contraction;
pub(crate) mod distance;
pub(crate) mod euclidean;
pub(crate) mod linear;
pub(crate) mod multi_dot;
pub(crate) mod product;
pub(crate) mod vectors;

rows_of!(addmm, contraction, distance, linear, vectors);
