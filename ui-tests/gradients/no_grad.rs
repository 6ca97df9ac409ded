//! Recording is not switched: only what is computed inside of a closure from parameters is recorded.
//!
//! Instead: leave it out.
//!
//! names: recording is not switched off
//! says: leave `no_grad` out
//! says: .stop()
//! says: scoped_no_grad

use castiron::tensor;

fn main() {
    let _guard = castiron::grad::no_grad();
    // instead:
    let _ = tensor![1.0, 2.0].exp();
}
