//! A mask is a tensor of bools.
//!
//! Instead: compare first.
//!
//! names: masked_fill
//! names: bool
//! says: .ne(0)

use castiron::tensor;

fn main() {
    let (x, padding) = (tensor![1.0, 2.0], tensor![0, 1]);
    let _ = x.masked_fill(&padding, 0);
    // instead: let _ = x.masked_fill(padding.ne(0), 0);
}
