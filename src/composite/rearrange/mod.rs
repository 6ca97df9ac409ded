//! Elements moved to other positions, repeated or padded; each makes a new tensor.

// Documentation lists methods in this order.
pub(crate) mod flip;
pub(crate) mod pad;
pub(crate) mod pixels;
pub(crate) mod repeat;
pub(crate) mod roll;
pub(crate) mod triangle;

mod by_counts;
pub(crate) mod segments;

rows_of!(flip, pad, pixels, repeat, roll, triangle);
