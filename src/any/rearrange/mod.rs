//! Elements moved to other positions, repeated or padded; each makes a new tensor.

pub(crate) mod flip_roll;
pub(crate) mod pad;
pub(crate) mod repeat;

rows_of!(flip_roll, pad, repeat);
