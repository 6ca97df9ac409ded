//! What leaves a closure otherwise than as its result is taken off the tape.
//!
//! Instead: `.detach()` in the closure.
//!
//! names: Taped<Cpu>
//! says: `.detach()` what leaves the closure

use castiron::grad::Grad;
use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let mut kept = None;
    let _ = x.value_and_grad((), |x, ()| {
        kept = Some(x * 2.0);
        // instead: kept = Some((x * 2.0).detach());
        x.sum()
    });
    let _ = kept.unwrap() + x;
}
