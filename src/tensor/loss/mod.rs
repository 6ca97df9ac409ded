//! What becomes of losses, and the weights that they take: as types. The losses are in `composite::loss`.

pub(crate) mod per_channel;
pub(crate) mod reduction;
