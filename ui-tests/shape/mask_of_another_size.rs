//! A mask is broadcast to the tensor it chooses from.
//!
//! Instead: a mask of its size.
//!
//! names: broadcast
//! names: D3
//! names: D2
//! says: equal | unsqueeze

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0, 3.0];
    let _ = x.masked_fill(tensor![true, false], 0);
    // instead: let _ = x.masked_fill(tensor![true, false, true], 0);
}
