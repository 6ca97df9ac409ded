//! Quantiles are of `f32` and `f64`.
//!
//! Instead: cast first: `.to::<f32>()`.
//!
//! names: quantile
//! names: i64
//! says: .to::<f32>()

use castiron::tensor;

fn main() {
    let _ = tensor![1, 2].quantile(0.5, castiron::Interpolation::Linear);
    // instead: let _ = tensor![1, 2].to::<f32>().quantile(0.5, castiron::Interpolation::Linear);
}
