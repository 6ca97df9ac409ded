//! Losses of predictions beside targets. Uses `tensor::loss`, where they are computed.

pub(crate) mod classes;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod operands;
