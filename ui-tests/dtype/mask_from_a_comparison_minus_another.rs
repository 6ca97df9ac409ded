//! A comparison gives bools, which are not subtracted.
//!
//! Instead: `^` for where two masks differ, or cast first.
//!
//! names: sub
//! names: bool
//! says: ^ | .to::<

use castiron::tensor;

fn main() {
    let (x, y) = (tensor![1.0, 2.0], tensor![2.0, 1.0]);
    let _ = x.gt(1) - y.gt(1);
    // instead: let _ = x.gt(1) ^ y.gt(1);
}
