//! What losses of `AnyTensor` look at before `composite::loss`, where they are computed, and those of dtypes that are no floats.

pub(crate) mod classes;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod operands;
