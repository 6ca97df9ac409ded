//! Elements are picked by a mask with `masked_select`.
//!
//! Instead: `x.masked_select(&x.gt(1))`.
//!
//! names: indexed
//! says: masked_select

use castiron::tensor;

fn main() {
    let x = tensor![1, 2, 3];
    let _ = x[x.gt(1)];
    // instead: let _ = x.masked_select(&x.gt(1));
}
