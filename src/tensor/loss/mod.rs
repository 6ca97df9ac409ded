//! Losses of predictions beside targets. Uses the formulas of `ops::losses`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

// The documentation lists methods in this order.

pub(crate) mod ctc;
pub(crate) mod per_channel;
pub(crate) mod reduction;
