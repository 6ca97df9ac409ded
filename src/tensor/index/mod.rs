//! Elements chosen by index tensors and masks: gather, scatter, masked operations, `index_put`.
//! Uses the gather and scatter loops of the devices.

// First what readers of the documentation look for first.
pub(crate) mod gather;

pub(crate) mod index_put;
pub(crate) mod masked;
pub(crate) mod scatter;
