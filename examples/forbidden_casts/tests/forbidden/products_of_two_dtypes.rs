//! Products of matrices have one dtype.
fn main() {
    let (rates, cents) = (castiron::tensor![[1.5, 2.0]], castiron::tensor![[100], [250]]);
    let total = rates.matmul(&cents);
    // instead: let total = rates.matmul(&cents.to::<f32>());
    println!("{total}");
}
