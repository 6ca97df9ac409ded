//! Operations along one axis.

pub(crate) mod diff;

rows_of!(diff);
