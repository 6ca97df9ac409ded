//! Reductions and weights of losses as types. The losses are in `composite::loss`.

pub(crate) mod per_channel;
pub(crate) mod reduction;
