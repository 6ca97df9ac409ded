//! The compiler's answers, compared with PyTorch's for every ordered pair of the 22 dtypes, every pair of operand kinds and every operator:
//! the dtype of the result, or refusal; and for every in-place form, whether it is allowed. (For most operators only half of the pairs, and
//! three kinds in four, are asked; the rest with `RUSTFLAGS="--cfg every_cell"`, as `.ci/more` does.)  Each cell is a probe: an inherent
//! constant that exists only if the operator does, and then shadows a trait's constant.

#[path = "../suite/common/mod.rs"]
mod common;
mod compare;
#[macro_use]
mod grid;
mod binary;
mod in_place;
mod probe;
mod sparse;
mod unary;
