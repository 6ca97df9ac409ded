//! A count stays a count: what is added in place does not change the dtype.
//!
//! error: result type `f32` can't be cast to the desired output type `i64`
//! says: .to::<f32>() | cast
fn main() {
    let mut balance = castiron::tensor![100, 250];
    balance += 0.5;
    // instead: balance += 1;
}
