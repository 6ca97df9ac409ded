//! A quotient is a float, and is not written into integers.
//!
//! error: result type `f32` can't be cast to the desired output type `i64`
//! says: floor_divide | .to::<f32>() | cast
fn main() {
    let mut balance = castiron::tensor![100, 250];
    balance /= 2;
    // instead: balance.floor_divide_(2);
}
