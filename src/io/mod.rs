//! Tensors in files. Uses tensors and their storage; used by programs alone.

mod map;
