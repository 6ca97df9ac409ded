//! Statistics of samples.

pub(crate) mod covariance;

rows_of!(covariance);
