//! What elements are moved by at run time: see `composite::rearrange`.

pub(crate) mod pad;
pub(crate) mod repeat;

rows_of!(pad, repeat);
