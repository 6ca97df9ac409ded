//! Several sorted lists take a lane of values each.
//!
//! Instead: give the values the same leading sizes.
//!
//! names: searchsorted
//! says: size | same

use castiron::tensor;

fn main() {
    let _ = tensor![[1, 2], [3, 4]].searchsorted(tensor![[1], [2], [3]], false);
    // instead: let _ = tensor![[1, 2], [3, 4]].searchsorted(tensor![[1], [2]], false);
}
