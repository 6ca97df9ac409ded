//! Elements moved to other positions, repeated or padded; each makes a new tensor.
//! Uses loops over types of the elements' width (`base::by_width`).

pub(crate) mod flip_roll;
pub(crate) mod pad;
pub(crate) mod repeat;

rows_of!(flip_roll, pad, repeat);
