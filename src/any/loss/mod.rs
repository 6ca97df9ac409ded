//! Losses of predictions beside targets. Uses `tensor::loss`, where they are computed.

pub(crate) mod binary;
pub(crate) mod classes;
pub(crate) mod ctc;
pub(crate) mod distances;
pub(crate) mod margins;
pub(crate) mod pairs;

rows_of!(binary, classes, ctc, distances, margins, pairs);
