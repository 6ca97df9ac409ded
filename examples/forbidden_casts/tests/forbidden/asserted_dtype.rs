//! A dtype that is asserted is the dtype.
fn main() {
    let shares = castiron::tensor![100, 250] / 2;
    castiron::assert_dtype!(shares, i64);
    // instead: castiron::assert_dtype!(shares, f32);
}
