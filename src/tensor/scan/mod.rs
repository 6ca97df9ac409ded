//! Operations along one axis that keep it: cumulative sums, `softmax`, differences, integration.
//! Uses `LaneKernel` loops, which see one axis at a time.

pub(crate) mod cumulative;
pub(crate) mod trapezoid;
