//! A quotient is a float, and is not written into integers.
//!
//! says: floor_divide | .to::<f32>() | cast
fn main() {
    let mut balance = castiron::tensor![100, 250];
    balance /= 2;
    // instead: balance.floor_divide_(2);
}
