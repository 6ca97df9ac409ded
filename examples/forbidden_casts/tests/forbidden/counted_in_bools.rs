//! A mask does not count.
//!
//! error: result type `i64` can't be cast to the desired output type `bool`
fn main() {
    let mut paid = castiron::tensor![true, false];
    paid += 1;
    // instead: let times = paid.to::<i64>() + 1;
    // instead: println!("{times}");
}
