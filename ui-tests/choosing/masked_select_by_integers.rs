//! A mask is a tensor of bools.
//!
//! Instead: compare first: `mask.ne(0)`.
//!
//! names: masked_select
//! names: bool
//! says: .ne(0)

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2].masked_select(tensor![0, 1]);
    // instead: let _ = tensor![1, 2].masked_select(tensor![0, 1].ne(0));
}
