//! A dtype that is asserted is the dtype.
//!
//! error: the dtype is `f32`, and should be `i64`
fn main() {
    let shares = castiron::tensor![100, 250] / 2;
    castiron::assert_dtype!(shares, i64);
    // instead: castiron::assert_dtype!(shares, f32);
}
