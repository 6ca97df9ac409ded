//! Operations along one axis that keep it: cumulative sums, `softmax`, differences, integration.

pub(crate) mod cumulative;
pub(crate) mod trapezoid;
