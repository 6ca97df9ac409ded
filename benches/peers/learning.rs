//! Steps of learning of other libraries: measured as `cargo bench` measures those of `s`, and looked at, since a step that learns nothing may be
//! a fast one.

use crate::harness::{Bench, Work};

/// The rate of the steps of gradient descent.
pub const RATE: f64 = 0.05;

/// Measures a step, which returns the loss before it; the first loss and the last one are printed to standard error.
pub fn measured(bench: &mut Bench, variant: &str, name: &str, mut step: impl FnMut() -> f32) {
    let (mut first, mut last, mut steps) = (None, f32::NAN, 0);
    bench.run_as(variant, name, Work::Calls, || {
        last = step();
        steps += 1;
        first.get_or_insert(last);
        last
    });
    if let Some(first) = first {
        eprintln!("{name} {variant}: a loss of {first} at first, of {last} after {steps} steps");
    }
}
