//! A closure that several threads call changes nothing that they share.
//!
//! Instead: an atomic number, or a fold.
//!
//! rustc: E0594
//! names: cannot assign to `positive`
//! says: Fn

use castiron::tensor;

fn main() {
    let (x, mut positive) = (tensor![1.0, -2.0], 0);
    x.par_for_each(|v| positive += i32::from(v > 0.0));
    // instead: positive += x.par_fold(0, |sum, v| sum + i32::from(v > 0.0), |a, b| a + b);
    assert_eq!(positive, 1);
}
