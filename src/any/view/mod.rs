//! Views, which share storage and copy nothing, and `AnyViewMut`, which borrows it.

pub(crate) mod any_view_mut;
pub(crate) mod diagonal;
mod edits;
pub(crate) mod reinterpret;
pub(crate) mod reshape;
pub(crate) mod split;
pub(crate) mod view_copies;
pub(crate) mod views;

rows_of!(diagonal, reinterpret, reshape, split, view_copies[COPIES OPERATIONS], views);
