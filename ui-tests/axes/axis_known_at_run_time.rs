//! The axis decides on the type of the result, so it is written in the program.
//!
//! Instead: a literal, or `AnyTensor`, whose axes are values.
//!
//! names: constant
//! says: const
//! rustc: E0435

use castiron::{axis, tensor};

fn main() {
    let x = tensor![[1, 2], [3, 4]];
    let i = 1;
    // instead: const I: isize = 1;
    let _ = x.sum_axis(axis![i]);
    // instead: let _ = x.sum_axis(axis![I]);
}
