//! What networks are made of: convolutions, pooling.

pub(crate) mod attention;
pub(crate) mod conv;
pub(crate) mod pool;
