//! Elementwise operations: their formulas (`unary`, `binary`, `tuned`, `complex`, `close`, `pointwise`), the kernels that apply a formula
//! to one element (`kernel`), and trees of kernels that run as one loop (`expression`).

use super::rules;
use super::table;
use super::{Op, sealed};

pub(super) mod binary;
mod chosen;
pub mod close;
mod combining;
mod complex;
pub(crate) mod expression;
pub(crate) mod kernel;
pub mod pointwise;
pub(super) mod tuned;
pub(super) mod unary;

use super::reduce;
pub use binary::*;
pub use close::{allclose, isclose};
pub use tuned::*;
pub use unary::*;
