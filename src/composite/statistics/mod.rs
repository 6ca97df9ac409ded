//! Statistics of samples.

pub(crate) mod counting;
pub(crate) mod covariance;
pub(crate) mod histogram;
pub(crate) mod quantile;
pub(crate) mod rank;

rows_of!(counting, covariance, histogram);
