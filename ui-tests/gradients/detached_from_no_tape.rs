//! Outside of the closure of `value_and_grad` nothing is recorded: there is nothing to detach a tensor from.
//!
//! Instead: the tensor as it is; in code that is generic over devices, `.stop()`.
//!
//! names: Cpu
//! says: leave `detach` out

use castiron::tensor;

fn main() {
    let x = tensor![1.0, 2.0];
    let y = x.detach().exp();
    // instead: let y = x.exp();
    println!("{y}");
}
