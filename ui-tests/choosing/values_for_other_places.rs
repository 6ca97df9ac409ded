//! Values that are written where indices say have the shape of the places.
//!
//! Instead: values that broadcast to the shape of an index, followed by the axes that have none.
//!
//! names: places
//! says: broadcast

use castiron::tensor;

fn main() {
    let x = tensor![[0, 0, 0], [0, 0, 0]];
    let _ = x.index_put([&tensor![0, 1, 1, 0]], tensor![1, 2], false);
    // instead: let _ = x.index_put([&tensor![0, 1, 1, 0]], tensor![1, 2, 3], false);
}
