//! While a mutable view exists, nobody else reads what it borrows.
//!
//! Instead: read after the last use of the view, or clone the tensor first.
//!
//! names: borrow `x`
//! says: clone
//! rustc: E0502

use castiron::{axis, tensor};

fn main() {
    let mut x = tensor![[1, 2], [3, 4]];
    let mut row = x.select_mut(axis![0], 0);
    // instead: let other = x.select(axis![0], 1);
    // instead: let mut row = x.select_mut(axis![0], 0);
    row += x.select(axis![0], 1);
    // instead: row += other;
}
