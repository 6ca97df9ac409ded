//! Two vectors are multiplied if they have the same number of elements.
//!
//! Instead: cut the longer one.
//!
//! names: matmul
//! names: D3
//! names: D4
//! says: .narrow | same | equal

use castiron::tensor;

fn main() {
    let (x, y) = (tensor![1.0, 2.0, 3.0], tensor![1.0, 2.0, 3.0, 4.0]);
    let _ = x.matmul(&y);
    // instead: let _ = x.matmul(y.slice(castiron::s![..3]));
}
