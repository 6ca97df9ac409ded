//! Losses of predictions and targets.

pub(crate) mod binary;
pub(crate) mod classes;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod margins;
pub(crate) mod pairs;
pub(crate) mod reduction;

rows_of!(binary, classes, ctc, distances, margins, pairs);
