//! A tape is taken back once.
//!
//! Instead: call `vjp` for each.
//!
//! names: use of moved value
//! says: value used here after move
//! rustc: E0382

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let (_, back) = x.vjp((), |x, ()| x * x);
    let _ = back.pull(&tensor![1.0, 0.0]);
    // instead: let _ = back.pull(&tensor![1.0, 0.0]);
    // instead: let (_, back) = x.vjp((), |x, ()| x * x);
    let _ = back.pull(&tensor![0.0, 1.0]);
}
