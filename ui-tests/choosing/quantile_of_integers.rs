//! Quantiles are of `f32` and `f64`.
//!
//! Instead: cast first: `.to::<f32>()`.

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2].quantile(0.5, castiron::Interpolation::Linear);
}
