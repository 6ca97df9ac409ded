//! Operations along one axis that keep it.
//! Uses `tensor::scan`, on tensors reshaped to three axes.

pub(crate) mod cumulative;
pub(crate) mod trapezoid;

rows_of!(cumulative[OPERATIONS SCANS], trapezoid);
