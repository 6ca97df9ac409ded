//! What a closure computes with is on the tape.
//!
//! Instead: pass it beside the parameters.
//!
//! names: Taped<Cpu>
//! says: pass the other beside the parameters

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let (w, x) = (tensor![[1.0, 2.0]], tensor![[1.0], [2.0]]);
    let _ = w.value_and_grad((), |w, ()| w.matmul(&x).sum());
    // instead: let _ = w.value_and_grad(&x, |w, x| w.matmul(x).sum());
}
