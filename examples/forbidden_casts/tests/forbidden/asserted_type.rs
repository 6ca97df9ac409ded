//! A sum is a tensor of one element, and not a number.
//!
//! error: the type is `Tensor<i64, ()>`, and should be `i64`
fn main() {
    let total = castiron::tensor![100, 250].sum();
    castiron::assert_type!(total, i64);
    // instead: castiron::assert_type!(total.item(), i64);
}
