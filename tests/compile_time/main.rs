//! What the compiler answers, compared with PyTorch for every ordered pair of the 22 dtypes, every pair of operand kinds
//! and every operator: the dtype of the result, or refusal; and for every in-place form, admission or refusal. (Of most operators half of the
//! pairs, and three kinds in four: the others are asked about with `RUSTFLAGS="--cfg every_cell"`, as `.ci/more` does.)
//!
//! A cell is a probe: an inherent constant that exists where the operator does and shadows a trait's constant.

#[path = "../suite/common/mod.rs"]
mod common;
mod compare;
#[macro_use]
mod grid;
mod binary;
mod in_place;
#[cfg_attr(clippy, allow(dead_code, reason = "clippy sees one question of each kind"))]
mod probe;
mod sparse;
mod unary;
