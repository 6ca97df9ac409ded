//! Losses of predictions beside targets. Uses the formulas of `ops::losses`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

// The documentation lists methods in this order.
pub(crate) mod classes;
pub(crate) mod pairs;

pub(crate) mod binary;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod margins;
pub(crate) mod per_channel;
pub(crate) mod reduction;
