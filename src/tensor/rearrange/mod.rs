//! Elements moved to other positions, repeated or padded; each makes a new tensor.

pub(crate) mod by_counts;
pub(crate) mod flip_roll;
pub(crate) mod pad;
pub(crate) mod pick;
pub(crate) mod pixels;
pub(crate) mod repeat;
