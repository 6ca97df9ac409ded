//! Operations along one axis that keep it.
//! Tensors are reshaped to three axes for `tensor::scan`.

pub(crate) mod cumulative;
pub(crate) mod trapezoid;

rows_of!(cumulative[OPERATIONS SCANS], trapezoid);
