//! Several tensors joined into one. Their fronts are functions, not methods: tuples and lists in `tensor/join`, slices in `any/join`.

pub(crate) mod blocks;
pub(crate) mod end_to_end;
