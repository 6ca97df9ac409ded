//! What a closure writes in place has the shape of the tensor.
//!
//! Instead: `zip_map` makes a new tensor.
//!
//! names: written
//! says: shape

use castiron::tensor;

fn main() {
    let (mut x, y) = (tensor![1, 2], tensor![[1, 2], [3, 4]]);
    x.zip_map_(&y, |(x, y)| x + y);
    // instead: let _ = x.zip_map(&y, |(x, y)| x + y);
    x += 1;
}
