//! A mask does not count.
fn main() {
    let mut paid = castiron::tensor![true, false];
    paid += 1;
    // instead: let times = paid.to::<i64>() + 1;
    // instead: assert_eq!(times.to_vec(), [2, 1]);
}
