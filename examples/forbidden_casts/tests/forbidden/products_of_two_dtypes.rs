//! Products of matrices have one dtype.
//!
//! error: `matmul` takes two tensors of one dtype, got `f32` and `i64`
fn main() {
    let (rates, cents) = (castiron::tensor![[1.5, 2.0]], castiron::tensor![[100], [250]]);
    let total = rates.matmul(&cents);
    // instead: let total = rates.matmul(&cents.to::<f32>());
    println!("{total}");
}
