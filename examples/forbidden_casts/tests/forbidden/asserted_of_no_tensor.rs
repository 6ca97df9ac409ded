//! What is no tensor has no dtype to be asserted.
//!
//! error: `Vec<{integer}>` has no dtype and shape in its type
//! says: assert_type!
fn main() {
    let x = vec![1, 2];
    castiron::assert_dtype!(x, i32);
    // instead: castiron::assert_type!(x, Vec<i32>);
}
