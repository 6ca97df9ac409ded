//! A mask is a tensor of bools.
//!
//! Instead: compare first: `mask.ne(0)`.

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2].masked_select(tensor![0, 1]);
}
