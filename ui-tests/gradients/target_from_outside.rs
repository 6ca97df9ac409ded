//! What a loss compares with is on the tape, too.
//!
//! Instead: pass it beside the parameters.
//!
//! names: Taped<Cpu>
//! says: pass the other beside the parameters

use castiron::grad::Grad;
use castiron::reduction::Mean;
use castiron::tensor;

fn main() {
    let (scores, classes) = (tensor![[1.0, 2.0]], tensor![1]);
    let _ = scores.value_and_grad((), |scores, ()| scores.cross_entropy(&classes, (), -100, 0.0, Mean));
    // instead: let _ = scores.value_and_grad(&classes, |scores, classes| scores.cross_entropy(classes, (), -100, 0.0, Mean));
}
