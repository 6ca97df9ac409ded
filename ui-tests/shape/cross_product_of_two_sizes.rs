//! The operands of a cross product broadcast.
//!
//! Instead: give both three numbers.
//!
//! names: broadcast
//! names: D3
//! names: D2
//! says: 3 | same

use castiron::{axis, tensor};

fn main() {
    let (x, y) = (tensor![1, 2, 3], tensor![1, 2]);
    // instead: let (x, y) = (tensor![1, 2, 3], tensor![1, 2, 0]);
    let _ = x.cross(&y, axis![0]);
}
