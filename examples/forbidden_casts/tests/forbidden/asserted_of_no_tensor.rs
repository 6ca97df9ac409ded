//! What is no tensor has no dtype to be asserted.
//!
//! says: assert_type!
fn main() {
    let x = vec![1, 2];
    castiron::assert_dtype!(x, i32);
    // instead: castiron::assert_type!(x, Vec<i32>);
}
