//! Losses of predictions beside targets. Uses the formulas of `ops::losses`.

// The documentation lists methods in this order.
pub(crate) mod classes;
pub(crate) mod pairs;

pub(crate) mod binary;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod margins;
pub(crate) mod per_channel;
pub(crate) mod reduction;
