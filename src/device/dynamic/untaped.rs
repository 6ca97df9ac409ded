//! Storages of any device where there are no tapes.

use super::DynamicBuffer;
use crate::error::Error;

impl DynamicBuffer {
    /// Nothing is recorded.
    #[inline(always)]
    #[allow(clippy::unused_self)]
    pub(crate) fn is_recorded(&self) -> bool {
        false
    }
}

/// The error for an operation that cannot be recorded.
#[cold]
pub(crate) fn not_recorded(op: &'static str) -> Error {
    Error::InvalidArgument { op, reason: "nothing is recorded".to_owned() }
}
